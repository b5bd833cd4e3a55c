package profile

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/api/worker"
)

func TestDevice(t *testing.T) {
	for _, tt := range []struct {
		device worker.Device
		want   api.MLXDevice
	}{
		{worker.Device{Type: "cpu", Architecture: "x86_64"}, api.MLXDeviceCPU},
		{worker.Device{Type: "gpu", Architecture: "applegpu_g15d"}, api.MLXDeviceMetal},
		{worker.Device{Type: "gpu", Architecture: "sm_90"}, api.MLXDeviceCUDA},
	} {
		is.New(t).Equal(device(tt.device), tt.want)
	}
}

func TestPlausible(t *testing.T) {
	is := is.New(t)
	is.NoErr(plausible(sampleGPU()))
	for name, spoil := range map[string]func(*worker.GPU){
		"device":       func(g *worker.GPU) { g.Device.Type = "tpu" },
		"zero speed":   func(g *worker.GPU) { g.MatMul[1].SpeedTFLOPS = 0 },
		"infinite":     func(g *worker.GPU) { g.MatMul[0].SpeedTFLOPS = math.Inf(1) },
		"no number":    func(g *worker.GPU) { g.Bandwidth[0].ReadBytesPerS = math.NaN() },
		"too fast":     func(g *worker.GPU) { g.Bandwidth[0].ReadBytesPerS = 1e19 },
		"no float16":   func(g *worker.GPU) { g.MatMul = g.MatMul[1:] },
		"no bandwidth": func(g *worker.GPU) { g.Bandwidth = nil },
		"huge buffer":  func(g *worker.GPU) { g.Bandwidth[0].BufferBytes = math.MaxUint64 },
	} {
		t.Run(name, func(t *testing.T) {
			g := sampleGPU()
			spoil(&g)
			is.New(t).True(plausible(g) != nil)
		})
	}
}

func TestWorstHeatCounts(t *testing.T) {
	is := is.New(t)
	state := func(s api.ThermalState) conditions {
		return conditions{value: api.MeasureConditions{ThermalState: s}}
	}
	is.Equal(state(api.ThermalSerious).with(state(api.ThermalFair)).value.ThermalState, api.ThermalSerious)
	is.Equal(state(api.ThermalNominal).with(state(api.ThermalFair)).value.ThermalState, api.ThermalFair)
	is.Equal(state("").with(state(api.ThermalNominal)).value.ThermalState, api.ThermalNominal)
	is.Equal(state("").with(state("")).value.ThermalState, api.ThermalState(""))
}

// FuzzResult reads any result of a worker: what passes makes a document.
func FuzzResult(f *testing.F) {
	good, err := json.Marshal(sampleGPU())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"device":{"type":"gpu"},"matmul":[{"dtype":"float16","speed_tflops":1e308}],"bandwidth":[{"read_bytes_per_s":1e-9}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var g worker.GPU
		if json.Unmarshal(text, &g) != nil || plausible(g) != nil {
			return
		}
		v := fromWorker(g, api.MeasureConditions{})
		if v.FP16TFLOPS == nil || *v.FP16TFLOPS <= 0 || v.MemoryBytesPerS == nil || *v.MemoryBytesPerS < 0 || v.BufferBytes < 0 {
			t.Fatalf("%+v", v)
		}
		if _, err := json.Marshal(v); err != nil {
			t.Fatal(err)
		}
	})
}

func TestWhyAWorkerDidNotStart(t *testing.T) {
	for err, want := range map[error]api.Reason{
		fs.ErrNotExist: api.ReasonMLXMissing, syscall.EAGAIN: api.ReasonTooManyProcesses, syscall.EMFILE: api.ReasonTooManyFiles,
		syscall.ENFILE: api.ReasonTooManyFiles, syscall.EACCES: api.ReasonSpawnFailed,
	} {
		is.New(t).Equal(reasonNotStarted(fmt.Errorf("start: %w", err)), want)
	}
}
