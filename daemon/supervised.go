package daemon

import (
	"context"
	"errors"
	"sync"
	"time"

	"fulmen/native"
)

// tellReady tells whoever keeps the daemon that clients are answered. That it could
// not be told is no reason to end: who waits for it in vain does that.
func (d *daemon) tellReady(status string) {
	if err := d.options.Supervisor.Ready(status); err != nil {
		log := d.stoppedLog()
		if d.logs != nil {
			log = d.logs.part("daemon")
		}
		log.Warn("whoever started the daemon was not told that it is ready", "error", err)
	}
}

// tellStopping tells it that the end of the process has begun. One that begins anew
// as another node does not end.
func (d *daemon) tellStopping(why error) {
	if errors.Is(why, ErrRestart) {
		return
	}
	if err := d.options.Supervisor.Stopping(); err != nil {
		d.logs.part("daemon").Warn("whoever started the daemon was not told that it stops", "error", err)
	}
}

// ledgerAnswers returns when the ledger does.
func (d *daemon) ledgerAnswers() { d.ledger.Subscribers() }

// keepAlive tells whoever keeps the daemon that it works, as often as that one wants
// to hear it twice, until ctx ends. It works while the ledger, through which all
// passes that it knows and does, answers: a daemon that hangs in there falls silent,
// and is ended and started again.
func keepAlive(ctx context.Context, clock native.Clock, every time.Duration, works func(), alive func() error) {
	if every <= 0 {
		return
	}
	var next native.Timer
	var mu sync.Mutex
	var step func()
	step = func() {
		works()
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() != nil {
			return
		}
		_ = alive() // one that was not heard is repeated in time
		next = clock.AfterFunc(every/2, step)
	}
	step()
	<-ctx.Done()
	mu.Lock()
	defer mu.Unlock()
	if next != nil {
		next.Stop()
	}
}
