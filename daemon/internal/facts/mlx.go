package facts

import (
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/api/worker"
)

// MLX is the MLX that Fulmen itself uses.
type MLX struct {
	Version  string
	Backends []api.MLXBackend
	Devices  []api.MLXDevice
	// WorkingSetBytes is how much a program may hold on the GPU that MLX uses, as
	// MLX tells it; 0 where it does not.
	WorkingSetBytes int64
	// UsesCPU says that MLX finds no GPU, so that programs hold the machine's memory.
	UsesCPU bool
}

// MLXOf is what of the worker's answer becomes facts.
func MLXOf(info worker.Info) *MLX {
	mlx := &MLX{Version: info.MLXVersion}
	for _, name := range info.Distributed {
		mlx.Backends = append(mlx.Backends, api.MLXBackend(name))
	}
	for _, name := range info.Backends {
		mlx.Devices = append(mlx.Devices, api.MLXDevice(name))
	}
	if len(info.Devices) == 0 {
		return mlx
	}
	switch device := info.Devices[0]; { // programs use it unless they choose another
	case device.Type == string(api.MLXDeviceCPU):
		mlx.UsesCPU = true
	case device.WorkingSetBytes != 0:
		mlx.WorkingSetBytes = int64(device.WorkingSetBytes)
	case slices.Contains(mlx.Devices, api.MLXDeviceCUDA): // which recommends nothing: all of it may be used
		mlx.WorkingSetBytes = int64(device.MemoryBytes)
	}
	return mlx
}
