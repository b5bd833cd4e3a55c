package client

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"math/rand/v2"
	"time"

	"fulmen/daemon/api"
)

const (
	// firstPause is the wait before the first new attempt to connect.
	firstPause = 100 * time.Millisecond
	// longestPause is where the waits stop to double.
	longestPause = 5 * time.Second
)

// Watch gives the documents that are selected and every change after, on a
// connection of its own. When that is lost, or this reader is too slow for the
// changes, it takes up again with a new snapshot, so that applying the events
// in order always gives the state.
//
// An interruption is an error between events: the daemon is gone or busy, and
// the watch goes on trying, with growing pauses of at most five seconds. An
// error that trying again would not mend (a bad selection, a token that no
// longer counts) ends the sequence, as does the end of the context, silently.
func (c *Client) Watch(ctx context.Context, sel api.StateSelect) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		w := watch{client: c, sel: sel, yield: yield}
		pause := firstPause
		for {
			w.fresh = false
			err := w.once(ctx)
			if w.fresh {
				pause = firstPause
			}
			switch {
			case w.stopped || ctx.Err() != nil:
				return
			case w.fresh && errors.Is(err, api.ReasonLagged):
				continue // too slow a reader takes a new snapshot at once
			case !w.emit(Event{}, err) || !Mends(err):
				return
			}
			// A little chance keeps a hundred watchers from coming back as one.
			t := time.NewTimer(pause/2 + rand.N(pause/2))
			select {
			case <-t.C:
			case <-ctx.Done():
				t.Stop()
				return
			}
			pause = min(2*pause, longestPause)
		}
	}
}

// watch is one Watch.
type watch struct {
	client  *Client
	sel     api.StateSelect
	yield   func(Event, error) bool
	stopped bool // by the reader
	fresh   bool // a snapshot came on this connection
}

func (w *watch) emit(e Event, err error) bool {
	w.stopped = !w.yield(e, err)
	return !w.stopped
}

// once watches until the connection or the subscription ends, and says why.
func (w *watch) once(ctx context.Context) error {
	s, raw, err := w.client.stream(ctx, "state.watch", w.sel)
	if err != nil {
		return err
	}
	defer s.close()
	var first api.StateWatchResult
	if err := decodeResult("state.watch", raw, &first); err != nil {
		return err
	}
	snapshot := Event{Snapshot: true, Put: first.Docs, Stale: first.Stale}
	more := first.More
	if !more && !w.start(snapshot) {
		return nil
	}
	for n := uint64(1); ; n++ {
		c, err := w.change(ctx, s, n)
		switch {
		case err != nil:
			return err
		case more:
			snapshot.Put = append(snapshot.Put, c.Put...)
			if more = c.More; !more && !w.start(snapshot) {
				return nil
			}
		case !w.emit(Event{Put: c.Put, Del: c.Del, Stale: c.Stale}, nil):
			return nil
		}
	}
}

func (w *watch) start(snapshot Event) bool {
	w.fresh = true
	return w.emit(snapshot, nil)
}

// change reads the nth notification. A gap is treated as what it is, a loss.
func (w *watch) change(ctx context.Context, s *streaming, n uint64) (api.StateChanged, error) {
	var c api.StateChanged
	raw, err := s.notification(ctx)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, api.Errorf(api.ReasonMalformedMessage, "state.changed", "A change is not what this version knows.").From(err)
	}
	if c.Lagged || c.N != n {
		return c, api.NewError(api.ReasonLagged, "")
	}
	return c, nil
}
