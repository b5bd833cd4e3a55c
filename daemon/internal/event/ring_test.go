package event

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestRingKeepsTheNewest(t *testing.T) {
	is := is.New(t)
	began := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	at := func(i int) api.Time { return api.TimeOf(began.Add(time.Duration(i) * time.Second)) }
	r := NewRing(at(0))
	is.True(!r.Add(at(1), nil))
	entries, since := r.List()
	is.Equal(len(entries), 0)
	is.Equal(since, at(0))

	const more = 7
	for i := 1; i <= api.EventsKept+more; i++ {
		is.True(r.Add(at(i), []Entry{{Event: api.Event{Kind: api.EventNodeLost}}}))
	}
	entries, since = r.List()
	is.Equal(len(entries), api.EventsKept)
	is.Equal(entries[0].Seq, uint64(more+1))
	is.Equal(entries[0].At, at(more+1))
	is.Equal(entries[len(entries)-1].Seq, uint64(api.EventsKept+more))
	is.Equal(since, at(more+1)) // nothing is known any more of what was earlier
}
