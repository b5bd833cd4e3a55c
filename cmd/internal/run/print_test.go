package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
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
	printMachine(&out, api.Identity{Name: "ada", Chip: "Apple M3 Ultra", OSName: "macOS", OSVersion: "26.2"})
	is.True(strings.Contains(out.String(), "make build")) // the next step, where MLX is missing
	out.Reset()
	printMachine(&out, api.Identity{Name: "ada", MLXVersion: "0.32.4", MLXBackends: []api.MLXBackend{"ring", "jaccl"}})
	is.True(strings.Contains(out.String(), "ring, jaccl"))
	out.Reset()
	speed := 23.6
	printProfile(&out, api.GPUProfile{DeviceName: "Apple M3 Ultra", FP16TFLOPS: &speed, FP16Timing: &api.Timing{Runs: 80, SpreadRatio: 0.01},
		Conditions: api.MeasureConditions{BLAS: "reference"}})
	is.True(strings.Contains(out.String(), "23.60 TFLOPS"))
	is.True(strings.Contains(out.String(), "install libopenblas0-pthread"))
	is.True(!strings.Contains(out.String(), "memory")) // unknown is not shown as 0
}

func TestLiveLine(t *testing.T) {
	is := is.New(t)
	memory := api.Document{Kind: api.KindMemory}
	is.NoErr(memory.SetValue(map[string]int64{"total_bytes": 64 << 30, "used_bytes": 3 << 29}))
	system := api.Document{Kind: api.KindSystem}
	is.NoErr(system.SetValue(map[string]float64{"cpu_use_ratio": 0.25}))
	is.Equal(liveLine([]api.Document{memory, system}), "memory 1.5 GiB of 64 GiB   CPU 25 %")
	is.Equal(liveLine(nil), "")
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
