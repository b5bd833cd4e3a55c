package facts

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/api/worker"
)

func TestMLXOfAnAnswer(t *testing.T) {
	cpu := worker.Device{Type: "cpu", MemoryBytes: 512 << 30}
	for name, tt := range map[string]struct {
		info worker.Info
		set  int64
		cpu  bool
	}{
		"a Mac":             {worker.Info{Backends: []string{"cpu", "metal"}, Devices: []worker.Device{{Type: "gpu", MemoryBytes: 512 << 30, WorkingSetBytes: 464 << 30}, cpu}}, 464 << 30, false},
		"Metal tells none":  {worker.Info{Backends: []string{"cpu", "metal"}, Devices: []worker.Device{{Type: "gpu", MemoryBytes: 512 << 30}, cpu}}, 0, false},
		"CUDA":              {worker.Info{Backends: []string{"cpu", "cuda"}, Devices: []worker.Device{{Type: "gpu", MemoryBytes: 80 << 30}, cpu}}, 80 << 30, false},
		"no GPU":            {worker.Info{Backends: []string{"cpu"}, Devices: []worker.Device{cpu}}, 0, true},
		"no device is told": {worker.Info{Backends: []string{"cpu"}}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			tt.info.MLXVersion, tt.info.Distributed = "0.32.4", []string{"ring"}
			mlx := MLXOf(tt.info)
			is.Equal(mlx.Version, "0.32.4")
			is.Equal(mlx.Backends, []api.MLXBackend{api.MLXBackendRing})
			is.Equal(len(mlx.Devices), len(tt.info.Backends))
			is.Equal(mlx.WorkingSetBytes, tt.set)
			is.Equal(mlx.UsesCPU, tt.cpu)
		})
	}
}
