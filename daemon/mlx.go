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
	"fulmen/daemon/internal/profile"
	"fulmen/native"
)

const (
	// infoDeadline bounds the worker's answer to what MLX there is.
	infoDeadline = 30 * time.Second
	// mlxAgain is the pause before MLX is asked again; it doubles up to mlxLongest.
	mlxAgain   = 5 * time.Second
	mlxLongest = 10 * time.Minute
)

// learnMLX asks the worker what MLX there is, until it answers: a first start may be
// slow, and Metal may not be there before somebody has logged in.
func (d *daemon) learnMLX(ctx context.Context) {
	q := mlxQuestion{clock: d.platform.Clock, ask: func(ctx context.Context) proc.Record {
		return proc.Run(ctx, d.platform.Clock, proc.Command{
			Path: d.worker, Args: []string{string(worker.CommandInfo)}, Env: workerEnvironment(os.Environ()), Deadline: infoDeadline, Check: d.trusted,
		})
	}}
	q.tell = func(mlx *facts.MLX, why api.Reason, record proc.Record) {
		switch why {
		case "":
			d.clear(api.ReasonMLXMissing, api.ReasonMLXNoAnswer)
		default:
			d.logs.part("daemon").Warn("MLX could not be asked", "outcome", record.Outcome, "sentence", record.Sentence)
			for _, other := range []api.Reason{api.ReasonMLXMissing, api.ReasonMLXNoAnswer} {
				if other != why {
					d.clear(other)
				}
			}
			d.raise(why, record.Sentence)
		}
		d.facts.Learn(mlx, why)
	}
	q.run(ctx)
}

// mlxQuestion is the question to the worker what MLX there is.
type mlxQuestion struct {
	clock native.Clock
	ask   func(context.Context) proc.Record
	tell  func(mlx *facts.MLX, why api.Reason, record proc.Record)
}

// run asks until there is an answer, with pauses that grow.
func (q mlxQuestion) run(ctx context.Context) {
	for pause := mlxAgain; ; pause = min(2*pause, mlxLongest) {
		record := q.ask(ctx)
		if record.Outcome == proc.Cancelled {
			return
		}
		var info worker.Info
		if record.Outcome == proc.OK && record.Word.Decode(&info) == nil {
			q.tell(mlxOf(info), "", record)
			return
		}
		q.tell(nil, noMLX(record), record)
		if !native.Pause(ctx, q.clock, pause) {
			return
		}
	}
}

// noMLX is why the worker gave no answer: it, or its libraries, are not there, or MLX
// or the driver below it does not answer.
func noMLX(record proc.Record) api.Reason {
	if record.Outcome == proc.NotStarted || profile.Reason(record) == api.ReasonMLXMissing {
		return api.ReasonMLXMissing
	}
	return api.ReasonMLXNoAnswer
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
