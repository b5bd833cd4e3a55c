package profile

import (
	"context"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/api/worker"
	"fulmen/daemon/internal/proc"
	"fulmen/native"
)

const (
	// InfoDeadline bounds the worker's answer to what MLX there is.
	InfoDeadline = 30 * time.Second
	// mlxAgain is the pause before MLX is asked again; it doubles up to mlxLongest.
	mlxAgain   = 5 * time.Second
	mlxLongest = 10 * time.Minute
)

// MLXQuestion is the question to the worker what MLX there is.
type MLXQuestion struct {
	Clock native.Clock
	// Ask runs the worker.
	Ask func(context.Context) proc.Record
	// Tell takes the answer, or why there is none.
	Tell func(info *worker.Info, why api.Reason, record proc.Record)
}

// Run asks until there is an answer, with pauses that grow.
func (q MLXQuestion) Run(ctx context.Context) {
	for pause := mlxAgain; ; pause = min(2*pause, mlxLongest) {
		record := q.Ask(ctx)
		if record.Outcome == proc.Cancelled {
			return
		}
		var info worker.Info
		if record.Outcome == proc.OK && record.Word.Decode(&info) == nil {
			q.Tell(&info, "", record)
			return
		}
		q.Tell(nil, noMLX(record), record)
		if !native.Pause(ctx, q.Clock, pause) {
			return
		}
	}
}

// noMLX is why the worker gave no answer: it, or its libraries, are not there, or MLX
// or the driver below it does not answer.
func noMLX(record proc.Record) api.Reason {
	if record.Outcome == proc.NotStarted || Reason(record) == api.ReasonMLXMissing {
		return api.ReasonMLXMissing
	}
	return api.ReasonMLXNoAnswer
}
