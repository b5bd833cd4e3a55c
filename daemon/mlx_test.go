package daemon

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/api/worker"
	"fulmen/daemon/internal/facts"
	"fulmen/daemon/internal/proc"
	"fulmen/native"
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
			mlx := mlxOf(tt.info)
			is.Equal(mlx.Version, "0.32.4")
			is.Equal(mlx.Backends, []api.MLXBackend{api.MLXBackendRing})
			is.Equal(len(mlx.Devices), len(tt.info.Backends))
			is.Equal(mlx.WorkingSetBytes, tt.set)
			is.Equal(mlx.UsesCPU, tt.cpu)
		})
	}
}

// MLX is asked until it answers, ever more rarely.
func TestMLXIsAskedAgain(t *testing.T) {
	answer := proc.Record{Outcome: proc.OK, Word: &worker.Message{Type: worker.TypeResult, Value: json.RawMessage(`{"mlx_version":"0.32.4"}`)}}
	gone := proc.Record{Outcome: proc.NotStarted, StartErr: os.ErrNotExist}
	silent := proc.Record{Outcome: proc.TooLong}
	aborted := proc.Record{Outcome: proc.Aborted}
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		began := time.Now()
		records := []proc.Record{silent, aborted, gone, silent, answer}
		var asked []time.Duration
		var told []api.Reason
		version := ""
		q := mlxQuestion{
			clock: native.ClockFrom(time.Now, func() time.Duration { return time.Since(began) }),
			ask: func(context.Context) proc.Record {
				asked = append(asked, time.Since(began))
				return records[len(asked)-1]
			},
			tell: func(mlx *facts.MLX, why api.Reason, _ proc.Record) {
				told = append(told, why)
				if mlx != nil {
					version = mlx.Version
				}
			},
		}
		q.run(t.Context())
		is.Equal(asked, []time.Duration{0, 5 * time.Second, 15 * time.Second, 35 * time.Second, 75 * time.Second})
		is.Equal(told, []api.Reason{api.ReasonMLXNoAnswer, api.ReasonMLXNoAnswer, api.ReasonMLXMissing, api.ReasonMLXNoAnswer, ""})
		is.Equal(version, "0.32.4")

		records = slices.Repeat([]proc.Record{silent}, 20)
		asked, began = nil, time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		q.run(ctx)
		is.Equal(asked[len(asked)-1]-asked[len(asked)-2], mlxLongest)
	})
}
