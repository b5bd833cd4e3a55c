package model

import (
	"context"
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
	"fulmen/native/waker"
)

// watchEvery is how often whoever watches gets to know of copies at most.
const watchEvery = time.Second

// Watch follows the copies to one account of this Mac.
type Watch struct {
	models  *Models
	account string
	wake    waker.Waker
	isLater bool
}

// Watch begins to follow the copies to the account of a caller.
func (m *Models) Watch(caller api.Principal) (*Watch, error) {
	who, err := m.cfg.Account(caller)
	if err != nil {
		return nil, err
	}
	w := &Watch{models: m, account: who.Name, wake: waker.New()}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watches[w] = true
	w.wake.Wake()
	return w, nil
}

// Next waits for a change, and gives all copies that go on. The error is that of ctx.
func (w *Watch) Next(ctx context.Context) ([]api.ModelCopying, error) {
	if w.isLater && !native.Pause(ctx, w.models.cfg.Clock, watchEvery) {
		return nil, context.Cause(ctx)
	}
	w.isLater = true
	select {
	case <-w.wake:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	w.models.mu.Lock()
	defer w.models.mu.Unlock()
	all := []api.ModelCopying{}
	for c, now := range w.models.copies {
		if c.Account == w.account {
			all = append(all, now)
		}
	}
	slices.SortFunc(all, func(a, b api.ModelCopying) int { return strings.Compare(a.Model, b.Model) })
	return all, nil
}

// Close ends it.
func (w *Watch) Close() {
	w.models.mu.Lock()
	defer w.models.mu.Unlock()
	delete(w.models.watches, w)
}

// goes notes how far a copy is.
func (m *Models) goes(c *Copying) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.copies[c] = c.now
	m.wakeLocked(c.Account)
}

// ended notes that a copy does not go on.
func (m *Models) ended(c *Copying) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.copies, c)
	m.wakeLocked(c.Account)
}

func (m *Models) wakeLocked(account string) {
	for w := range m.watches {
		if w.account == account {
			w.wake.Wake()
		}
	}
}
