package profile

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
	"fulmen/daemon/internal/proc"
	"fulmen/native"
)

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
		var reported []api.Reason
		version := ""
		clock := native.ClockFrom(time.Now, func() time.Duration { return time.Since(began) })
		ask := func(context.Context) proc.Record {
			asked = append(asked, time.Since(began))
			return records[len(asked)-1]
		}
		notify := func(info *worker.Info, why api.Reason, _ proc.Record) {
			reported = append(reported, why)
			if info != nil {
				version = info.MLXVersion
			}
		}
		AskMLX(t.Context(), clock, ask, notify)
		is.Equal(asked, []time.Duration{0, 5 * time.Second, 15 * time.Second, 35 * time.Second, 75 * time.Second})
		is.Equal(reported, []api.Reason{api.ReasonMLXNoAnswer, api.ReasonMLXNoAnswer, api.ReasonMLXMissing, api.ReasonMLXNoAnswer, ""})
		is.Equal(version, "0.32.4")

		records = slices.Repeat([]proc.Record{silent}, 20)
		asked, began = nil, time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		AskMLX(ctx, clock, ask, notify)
		is.Equal(asked[len(asked)-1]-asked[len(asked)-2], mlxLongest)
	})
}
