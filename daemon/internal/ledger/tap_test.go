package ledger

import (
	"context"
	"fmt"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestTapTellsWhoDoesWhat(t *testing.T) {
	is := is.New(t)
	r := newRig(t, func(o *Options) { o.Queue = 1 })
	tap := r.Tap()
	_, w := r.Watch(WatchOptions{Name: "client"})
	facts := r.w.Owner("facts")
	is.NoErr(facts.Put(Draft{Kind: api.KindMemory, Value: value(1)}))
	is.NoErr(facts.Put(Draft{Kind: api.KindMemory, Value: value(1)})) // nothing new
	is.NoErr(facts.Put(Draft{Kind: api.KindSystem, Value: value(1)}))
	is.NoErr(facts.Delete(api.KindMemory, ""))
	w.Close()
	_, other := r.Watch(WatchOptions{Name: "other"})
	other.Close()
	other.Close()
	events, dropped, err := tap.Next(t.Context())
	is.NoErr(err)
	is.Equal(dropped, uint64(0))
	var got []string
	for _, e := range events {
		got = append(got, fmt.Sprintf("%s %s %s %d", e.By, e.Type, e.Key.Kind, e.Version.Seq))
	}
	is.Equal(got, []string{"client watch  0", "facts put memory 1", "client lagged  0", "facts put system 2", "facts delete memory 3", "other watch  0", "other unwatch  0"})

	for i := range 2 * tapSize { // nobody reads: the oldest go, and are counted
		is.NoErr(facts.Put(Draft{Kind: api.KindMemory, Value: value(i)}))
	}
	events, dropped, err = tap.Next(t.Context())
	is.NoErr(err)
	is.Equal(dropped+uint64(len(events)), uint64(2*tapSize))
	is.True(len(events) <= tapSize)
	is.Equal(events[len(events)-1].Version.Seq, uint64(2*tapSize+3))

	tap.Close()
	tap.Close()
	is.NoErr(facts.Put(Draft{Kind: api.KindMemory, Value: value(-1)}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = tap.Next(ctx)
	is.Equal(err, context.Canceled)
}
