package metrics

import (
	"context"
	"sync"
	"time"

	"fulmen/native"
)

const (
	// keep is how long after a scrape somebody still counts as watching: most servers scrape
	// at least once a minute.
	keep = 2 * time.Minute
	// settle is how long what moves may take to arrive from other Macs once somebody watches.
	settle = 1500 * time.Millisecond
)

// Watching counts whoever scrapes as somebody who watches what moves.
type Watching struct {
	// Clock measures.
	Clock native.Clock
	// Want begins to watch, until done is called.
	Want func() (done func())

	mu            sync.Mutex
	done          func()        // while somebody counts
	begun, latest time.Duration // on the boot clock
}

// Scrape notes a scrape. The first one waits until what moves has arrived.
func (w *Watching) Scrape(ctx context.Context) {
	w.mu.Lock()
	w.latest = w.Clock.Boot()
	if w.done == nil {
		w.begun, w.done = w.latest, w.Want()
		w.Clock.AfterFunc(keep, w.check)
	}
	rest := w.begun + settle - w.latest
	w.mu.Unlock()
	if rest > 0 {
		native.Pause(ctx, w.Clock, rest)
	}
}

// check ends the watching when nobody has scraped for long.
func (w *Watching) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if rest := w.latest + keep - w.Clock.Boot(); rest > 0 {
		w.Clock.AfterFunc(rest, w.check)
		return
	}
	w.done()
	w.done = nil
}
