package daemon

import (
	"context"
	"os"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/api/worker"
	"fulmen/daemon/internal/facts"
	"fulmen/daemon/internal/proc"
)

// infoDeadline bounds the worker's answer to what MLX there is.
const infoDeadline = 30 * time.Second

// learnMLX asks the worker once what MLX there is.
func (d *daemon) learnMLX(ctx context.Context) {
	record := proc.Run(ctx, d.platform.Clock, proc.Command{
		Path: d.worker, Args: []string{string(worker.CommandInfo)}, Env: workerEnvironment(os.Environ()), Deadline: infoDeadline, Check: d.trusted,
	})
	var info worker.Info
	if record.Outcome != proc.OK || record.Word.Decode(&info) != nil {
		if record.Outcome != proc.Cancelled {
			d.logs.part("daemon").Warn("MLX could not be asked", "outcome", record.Outcome, "sentence", record.Sentence)
			d.raise(api.ReasonMLXMissing, record.Sentence)
			d.facts.Learn(nil, api.ReasonMLXMissing)
		}
		return
	}
	d.facts.Learn(mlxOf(info), "")
}

// mlxOf is what of the worker's answer becomes facts.
func mlxOf(info worker.Info) *facts.MLX {
	mlx := &facts.MLX{Version: info.MLXVersion}
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
