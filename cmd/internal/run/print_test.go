package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api/worker"
)

func TestUnits(t *testing.T) {
	is := is.New(t)
	is.Equal(size(0), "memory unknown")
	is.Equal(size(1023), "1023 B")
	is.Equal(size(4096), "4 KiB")
	is.Equal(size(1536<<20), "1.5 GiB")
	is.Equal(rate(43.2e6), "43 MB/s")
	is.Equal(rate(661e9), "661.00 GB/s")
	is.Equal(flops(23.6), "23.60 TFLOPS")
	is.Equal(flops(0.0044), "4.4 GFLOPS")
}

func TestPrintsWhatWasMeasured(t *testing.T) {
	is := is.New(t)
	var out bytes.Buffer
	printInfo(&out, worker.Info{MLXVersion: "0.32.4", BLAS: worker.BLAS{Name: "reference"}, Devices: []worker.Device{{Type: "cpu", Name: "AMD EPYC"}}})
	is.True(strings.Contains(out.String(), "install libopenblas0-pthread")) // the next step
	is.True(strings.Contains(out.String(), "memory unknown"))               // not 0
	out.Reset()
	printGPU(&out, worker.GPU{Device: worker.Device{Type: "gpu", Name: "Apple M3 Ultra"}, ElapsedS: 8,
		MatMul: []worker.MatMul{{DType: "float16", N: 8192, SpeedTFLOPS: 23.6, Timing: worker.Timing{Runs: 80, SpreadRatio: 0.01, WarmUpS: 2}}}})
	is.True(strings.Contains(out.String(), "23.60 TFLOPS"))
	is.True(strings.Contains(out.String(), "still changing after 2.0 s")) // it had not settled
}

func TestScreenWithoutATerminal(t *testing.T) {
	is := is.New(t)
	var out bytes.Buffer
	s := &screen{out: &out}
	for _, ratio := range []float64{0, 0.1, 0.2} {
		s.progress(worker.Progress{Stage: "warm-up", DoneRatio: ratio})
	}
	s.progress(worker.Progress{Stage: "timing", DoneRatio: 0.5})
	s.clear()
	is.Equal(out.String(), "    0 %  warm-up\n   50 %  timing\n") // a line for each stage
}

func TestTailKeepsTheEnd(t *testing.T) {
	is := is.New(t)
	var kept tail
	for range 1000 {
		kept.Write([]byte("0123456789"))
	}
	kept.Write([]byte("the end\n"))
	is.True(strings.HasSuffix(kept.String(), "the end"))
	is.True(len(kept.String()) <= evidence)
}
