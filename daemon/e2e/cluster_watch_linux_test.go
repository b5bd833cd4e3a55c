package e2e

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// sight is what a daemon says about all nodes.
type sight map[api.NodeID]api.NodeView

func (s sight) String() string {
	text, _ := json.MarshalIndent(slices.Collect(maps.Values(s)), "", " ")
	return string(text)
}

// apply takes a change in.
func (s sight) apply(put []api.NodeView, del []api.NodeID) {
	for _, n := range put {
		s[n.Node] = n
	}
	for _, id := range del {
		delete(s, id)
	}
}

// record follows what a daemon says about all nodes, until it is ended.
type record struct {
	who  string
	stop context.CancelFunc

	mu      sync.Mutex
	now     sight
	seen    []api.NodeView // everything that was said, in order
	problem error
	changed chan struct{} // closed at the next change
}

// follow begins a record; the daemon has answered when it returns.
func follow(t *testing.T, who string, c *client.Client) *record {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	first, changes, err := client.Stream[api.NodeWatchResult, api.NodeChanged](ctx, c, "node.watch", api.Empty{})
	if err != nil {
		stop()
		t.Fatalf("%s: node.watch: %v", who, err)
	}
	r := &record{who: who, stop: stop, now: sight{}, changed: make(chan struct{})}
	r.take(first.Nodes, nil)
	go func() {
		for change, err := range changes {
			if err == nil && change.Lagged {
				err = api.NewError(api.ReasonLagged, "")
			}
			if err != nil {
				r.fail(err)
				return
			}
			r.take(change.Put, change.Del)
		}
	}()
	t.Cleanup(stop)
	return r
}

func (r *record) take(put []api.NodeView, del []api.NodeID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now.apply(put, del)
	r.seen = append(r.seen, put...)
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *record) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problem = err
	close(r.changed)
	r.changed = make(chan struct{})
}

// until waits until what the daemon says fits.
func (r *record) until(t *testing.T, what string, within time.Duration, fits func(sight) bool) sight {
	t.Helper()
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	for {
		r.mu.Lock()
		now, changed, problem := maps.Clone(r.now), r.changed, r.problem
		r.mu.Unlock()
		switch {
		case fits(now):
			return now
		case problem != nil:
			t.Fatalf("%s: waiting for %s: %v", r.who, what, problem)
		}
		select {
		case <-changed:
		case <-deadline.C:
			t.Fatalf("%s: no %s in %v; it says:\n%v", r.who, what, within, now)
		}
	}
}

// never reports everything that was said of other nodes and must not have been.
func (r *record) never(t *testing.T, what string, isWrong func(api.NodeView) bool) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.seen {
		if !n.Self && isWrong(n) {
			t.Errorf("%s said that %s is %s: %s (%s)", r.who, n.ShortName, what, n.Message, n.Reason)
		}
	}
}

// nodes waits until what a daemon says about all nodes fits.
func nodes(t *testing.T, who string, c *client.Client, what string, within time.Duration, fits func(sight) bool) sight {
	t.Helper()
	r := follow(t, who, c)
	defer r.stop()
	return r.until(t, what, within, fits)
}
