package ledger

import (
	"context"
	"errors"
	"testing"

	"github.com/matryer/is"
)

// A follower that lagged begins anew, with what there is then, and goes on; it ends with
// its context.
func TestAFollowerOutlivesALag(t *testing.T) {
	is := is.New(t)
	r := newRig(t, func(o *Options) { o.Queue = 3 })
	r.put(t, 1, 0)
	over := errors.New("over")
	ctx, cancel := context.WithCancelCause(t.Context())
	round, known := 0, state{}
	err := r.FollowEach(ctx, WatchOptions{Name: "slow"}, func(c Change) {
		round++
		if c.Whole {
			clear(known)
		}
		known.apply(c)
		switch round {
		case 1:
			is.True(c.Whole)
			for i := range 10 {
				r.put(t, 2+i, 0) // more than its queue takes
			}
		case 2:
			is.True(c.Whole)
			is.Equal(len(known), 11)
			r.put(t, 1, 1)
		case 3:
			is.True(!c.Whole)
			is.Equal(len(c.Put), 1)
			cancel(over)
		}
	})
	is.Equal(err, over)
	is.Equal(round, 3)
	is.True(known.equal(stateOf(r.List(Filter{}))))
	is.Equal(len(r.watchers), 0)
}
