package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/life"
)

// openLife writes down that the daemon runs, says how often it ended before without
// having been asked to, and watches whether another version is installed.
func (d *daemon) openLife() {
	d.checkPrograms()
	log := d.logs.part("daemon")
	now := d.platform.Clock.Now()
	book, err := life.Open(d.folders.LifeFile(), now, now.Add(-d.platform.Clock.Boot()))
	if err != nil {
		log.Warn("it is not known how the last run ended", "error", err) // which is no reason not to run
	} else {
		d.book = book
		d.tellLoop(now)
	}
	program, err := life.WatchProgram(d.program, d.programChanged)
	if err != nil {
		log.Warn("an upgrade will not be noticed", "error", err)
		return
	}
	d.onClose(program.Close)
}

// tellLoop raises the condition of a daemon that keeps ending, until it has lasted.
func (d *daemon) tellLoop(now time.Time) {
	n := d.book.Recent(now)
	if n > 0 {
		d.logs.part("daemon").Warn("the run before this one did not end in order", "recently", n)
	}
	if n < life.LoopEnds {
		return
	}
	d.raise(api.ReasonCrashLoop, fmt.Sprintf("%d times in %s; the last lines are in %s", n, life.LoopWithin, filepath.Join(d.folders.Logs, logFile)))
	lasted := d.platform.Clock.AfterFunc(life.LoopWithin, func() { d.clear(api.ReasonCrashLoop) })
	d.onClose(func() error { lasted.Stop(); return nil })
}

// endInOrder is the last thing that a run does which was asked to end.
func (d *daemon) endInOrder() {
	if d.book == nil {
		return
	}
	if err := d.book.Close(); err != nil {
		d.logs.part("daemon").Warn("the end will be taken for an unexpected one", "error", err)
	}
}

// programChanged hears that this program's file is another one, or none.
func (d *daemon) programChanged(state life.ProgramState) {
	d.logs.part("daemon").Info("the program on the disk changed", "path", d.program, "state", string(state))
	if state == life.ProgramReplaced {
		d.raise(api.ReasonProgramReplaced, "")
		return
	}
	d.clear(api.ReasonProgramReplaced)
}

// wasAsked reports whether a run ended because somebody wanted it to. One that fails
// is as unexpected as one that dies.
func wasAsked(ctx context.Context, err error) bool {
	return ctx.Err() != nil || err == nil || errors.Is(err, ErrRestart) || errors.Is(err, ErrRestartProgram)
}
