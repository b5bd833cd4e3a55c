package lifecycle

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"fulmen/native"
	"fulmen/native/activation"
)

// KeepAlive tells whoever keeps the daemon that it works, as often as that one wants
// to hear it twice, until ctx ends. It works while the ledger, through which all
// passes that it knows and does, answers: a daemon that hangs in there falls silent,
// and is ended and started again.
func KeepAlive(ctx context.Context, clock native.Clock, every time.Duration, works func(), alive func() error) {
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

// NotifyReady tells whoever keeps the daemon that clients are answered. That it could not
// be told is no reason to end: who waits for it in vain does that.
func NotifyReady(s *activation.Supervisor, status string, log *slog.Logger) {
	if err := s.Ready(status); err != nil {
		log.Warn("whoever started the daemon was not told that it is ready", "error", err)
	}
}

// NotifyStopping tells it that the end of the process has begun.
func NotifyStopping(s *activation.Supervisor, log *slog.Logger) {
	if err := s.Stopping(); err != nil {
		log.Warn("whoever started the daemon was not told that it stops", "error", err)
	}
}
