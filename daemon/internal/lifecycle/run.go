package lifecycle

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/health"
	"fulmen/daemon/internal/home"
	"fulmen/native"
)

// RunConfig is what a [Run] needs.
type RunConfig struct {
	Clock native.Clock
	// File is that of the [Book], and Program the path of the program that runs.
	File, Program string
	// Logs is where people find the last lines of a run that ended.
	Logs       string
	Conditions *health.Health
	Log        *slog.Logger
}

// Run is one run of the daemon. It says how often runs before it ended without having
// been asked to, and whether another version is installed.
type Run struct {
	cfg     RunConfig
	book    *Book // nil where it cannot be kept
	program *Program
	lasted  native.Timer // nil where nothing is to be taken back
}

// Begin writes down that the daemon runs.
func Begin(c RunConfig) *Run {
	r := &Run{cfg: c}
	now := c.Clock.Now()
	book, err := Open(c.File, now, now.Add(-c.Clock.Boot()))
	if err != nil {
		c.Log.Warn("it is not known how the last run ended", "error", err) // which is no reason not to run
	} else {
		r.book = book
		r.notifyLoop(now)
	}
	if r.program, err = WatchProgram(c.Program, r.programChanged); err != nil {
		c.Log.Warn("an upgrade will not be noticed", "error", err)
	}
	return r
}

// notifyLoop raises the condition of a daemon that keeps ending, until it has lasted.
func (r *Run) notifyLoop(now time.Time) {
	n := r.book.Recent(now)
	if n > 0 {
		r.cfg.Log.Warn("the run before this one did not end in order", "recently", n)
	}
	if n < LoopEnds {
		return
	}
	r.cfg.Conditions.Raise(api.ReasonCrashLoop, fmt.Sprintf("%d times in %s; the last lines are in %s", n, LoopWithin, r.cfg.Logs))
	r.lasted = r.cfg.Clock.AfterFunc(LoopWithin, func() { r.cfg.Conditions.Clear(api.ReasonCrashLoop) })
}

// programChanged hears that the program's file is another one, or none.
func (r *Run) programChanged(state ProgramState) {
	r.cfg.Log.Info("the program on the disk changed", "path", r.cfg.Program, "state", string(state))
	if state == ProgramReplaced {
		r.cfg.Conditions.Raise(api.ReasonProgramReplaced, "")
		return
	}
	r.cfg.Conditions.Clear(api.ReasonProgramReplaced)
}

// Close ends what it watches.
func (r *Run) Close() error {
	if r.lasted != nil {
		r.lasted.Stop()
	}
	if r.program == nil {
		return nil
	}
	return r.program.Close()
}

// Ended writes down that the run ended because it was asked to. It is the last thing
// that a run does.
func (r *Run) Ended() {
	if r.book == nil {
		return
	}
	if err := r.book.Close(); err != nil {
		r.cfg.Log.Warn("the end will be taken for an unexpected one", "error", err)
	}
}

// Stopped is the mark that a person has stopped the daemon: a file at this path. It
// lies in the runtime folder, which a restart of the machine empties.
type Stopped string

// Set makes the mark.
func (s Stopped) Set() error { return home.WriteFile(string(s), nil, 0o600) }

// Clear takes the mark away, if it is there.
func (s Stopped) Clear() error { return home.Remove(string(s)) }

// IsSet reports whether it is there. What cannot be looked at is not.
func (s Stopped) IsSet() bool {
	_, err := os.Lstat(string(s))
	return err == nil
}
