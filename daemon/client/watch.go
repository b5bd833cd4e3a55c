package client

import (
	"context"
	"errors"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
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
		isOver, pause := false, firstPause
		for {
			isFresh := false // a snapshot came on this connection
			err := c.follow(ctx, sel, func(e Event) bool {
				isFresh, isOver = true, !yield(e, nil)
				return !isOver
			})
			if isFresh {
				pause = firstPause
			}
			switch {
			case isOver || ctx.Err() != nil:
				return
			case isFresh && errors.Is(err, api.ReasonLagged):
				continue // too slow a reader takes a new snapshot at once
			case !yield(Event{}, err) || !IsRetryable(err):
				return
			}
			// A little chance keeps a hundred watchers from coming back as one.
			if !Pause(ctx, pause/2+rand.N(pause/2)) {
				return
			}
			pause = min(2*pause, longestPause)
		}
	}
}

// Pause waits; false where the context ended before.
func Pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// follow gives events until take has enough, or the connection or the subscription
// ends, and says why.
func (c *Client) follow(ctx context.Context, sel api.StateSelect, take func(Event) (goesOn bool)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	first, changes, err := Stream[api.StateWatchResult, api.StateChanged](ctx, c, "state.watch", sel)
	if err != nil {
		return err
	}
	event, more := Event{Snapshot: true, Put: first.Docs, Stale: first.Stale}, first.More
	if !more && !take(event) {
		return nil
	}
	for change, err := range changes {
		switch {
		case err != nil:
			return err
		case more:
			event.Put, more = append(event.Put, change.Put...), change.More
		default:
			event = Event{Put: change.Put, Del: change.Del, Stale: change.Stale}
		}
		if !more && !take(event) {
			return nil
		}
	}
	return nil
}

// Event is one step of a watch.
type Event struct {
	// Snapshot says that Put is everything there is, and what was known before
	// is to be forgotten: it is the first event, and the first after an
	// interruption.
	Snapshot bool
	// Put are new and changed documents.
	Put []api.Document
	// Del are the documents that are gone.
	Del []api.Key
	// Stale are the nodes that cannot be reached; nil where that did not change.
	Stale []api.NodeID
}

// View is what a watch has said so far, for those who want the state and not
// the steps. The zero value is empty.
type View struct{ docs map[api.Key]api.Document }

// Apply takes an event in.
func (v *View) Apply(e Event) {
	if e.Snapshot || v.docs == nil {
		v.docs = map[api.Key]api.Document{}
	}
	for _, d := range e.Put {
		v.docs[d.Key()] = d
	}
	for _, k := range e.Del {
		delete(v.docs, k)
	}
}

// Docs are the documents, ordered by node, kind and name.
func (v *View) Docs() []api.Document {
	return slices.SortedFunc(maps.Values(v.docs), func(a, b api.Document) int { return a.Key().Compare(b.Key()) })
}

// Get finds a document.
func (v *View) Get(k api.Key) (api.Document, bool) {
	d, ok := v.docs[k]
	return d, ok
}
