package command

import (
	"context"
	"errors"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

const (
	// inputPiece is the most input that is given at once, in bytes.
	inputPiece = 32 << 10
	// ctrlC is the key as a terminal in raw mode passes it on.
	ctrlC = 0x03
	// ctrlCWithin is how fast it must be pressed again to mean this program, and not
	// the one that runs on the terminal.
	ctrlCWithin = time.Second
	// ctrlCTimes is how often.
	ctrlCTimes = 3
)

// beginInput gives the job what comes on this program's input, once it runs.
func (a *attachment) beginInput(ctx context.Context) {
	if !a.input || a.Console != nil && !a.Console.Foreground() {
		return
	}
	a.input = false // once
	go a.giveInput(ctx, a.restore != nil)
}

// giveInput reads the input to its end and passes it on. What was not accepted is
// given again with its offset, and so counts once.
func (a *attachment) giveInput(ctx context.Context, raw bool) {
	at, ok := int64(0), true
	if a.giver != "" {
		at = api.InputAfterAll
	}
	var presses presses
	buffer := make([]byte, inputPiece)
	for {
		n, err := a.In.Read(buffer)
		if raw && presses.count(buffer[:n], time.Now()) {
			a.typed <- struct{}{}
		}
		if n > 0 {
			if at, ok = a.give(ctx, api.JobInputParams{OffsetBytes: at, Data: buffer[:n]}); !ok {
				return
			}
		}
		if err != nil {
			a.give(ctx, api.JobInputParams{OffsetBytes: at, End: true})
			return
		}
	}
}

// give passes a piece on, and says where the next one begins; false where nobody
// wants more. While the job lives, one that cannot take input now, or a daemon
// that is away, is waited for. Where another client gives input meanwhile, what is
// typed here follows that; the end of the input here is then not the job's.
func (a *attachment) give(ctx context.Context, piece api.JobInputParams) (next int64, ok bool) {
	piece.Job, piece.Giver = a.job, a.giver
	pause := firstPause
	for {
		sent := piece
		if piece.OffsetBytes == api.InputAfterAll { // asked first, as the answer may be lost
			sent = api.JobInputParams{Job: a.job, Giver: a.giver, OffsetBytes: api.InputAfterAll}
		}
		result, err := client.Call[api.JobInputResult](ctx, a.client, "job.input", sent)
		switch {
		case err == nil && piece.OffsetBytes == api.InputAfterAll:
			piece.OffsetBytes = result.OffsetBytes
			continue
		case err == nil:
			return piece.OffsetBytes + int64(len(piece.Data)), true
		case ctx.Err() != nil:
			return 0, false
		case errors.Is(err, api.ReasonInputElsewhere) && len(piece.Data) > 0:
			piece.OffsetBytes = api.InputAfterAll
			continue
		case !client.IsRetryable(err) || errors.Is(err, api.ReasonInputLost):
			if !errors.Is(err, api.ReasonInputElsewhere) && !errors.Is(err, api.ReasonJobEnded) {
				a.report("the job is given no more input: " + api.AsError(err).Message)
			}
			return 0, false
		case !client.Pause(ctx, pause):
			return 0, false
		}
		pause = min(2*pause, longestPause)
	}
}

// presses counts how often Ctrl-C was pressed in a row.
type presses struct {
	times int
	last  time.Time
}

// count takes typed bytes in and reports whether they mean this program.
func (p *presses) count(typed []byte, now time.Time) (meant bool) {
	for _, c := range typed {
		if c != ctrlC {
			p.times = 0
			continue
		}
		if now.Sub(p.last) > ctrlCWithin {
			p.times = 0
		}
		p.times++
		p.last = now
		meant = meant || p.times >= ctrlCTimes
	}
	return meant
}

// enterRaw passes the terminal on to rank 0's, with its size.
func (a *attachment) enterRaw(ctx context.Context) {
	spec := a.state.spec()
	if a.restore != nil || !a.input || !spec.Program.Terminal || a.Console == nil || !a.Screen || a.receive != nil || !a.Console.Foreground() {
		return
	}
	restore, err := a.Console.Raw()
	if err != nil {
		a.report("the terminal cannot be passed on to the job: " + err.Error())
		return
	}
	a.restore = restore
	a.lines.Raw(0)
	a.resize(ctx)
}

// leaveRaw gives the terminal back.
func (a *attachment) leaveRaw() {
	if a.restore != nil {
		_ = a.restore() // the terminal may be gone
		a.restore = nil
		a.lines.Raw(-1)
	}
}

// resize tells rank 0's terminal the size of this one.
func (a *attachment) resize(ctx context.Context) {
	if a.restore == nil {
		return
	}
	rows, columns, err := a.Console.Size()
	if err != nil {
		return // the size from before stays
	}
	go func() { // the keys need not wait for it
		_, _ = client.Call[api.Empty](ctx, a.client, "job.resize", api.JobResizeParams{Job: a.job, Rows: rows, Columns: columns})
	}()
}
