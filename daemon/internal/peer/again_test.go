package peer_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer"
	"fulmen/native"
	"fulmen/native/nativetest"
)

// quick is a clock on which every pause is over at once.
type quick struct {
	*nativetest.Clock
	pauses []time.Duration
}

func (q *quick) AfterFunc(d time.Duration, f func()) native.Timer {
	q.pauses = append(q.pauses, d)
	t := q.Clock.AfterFunc(d, f)
	q.Advance(d)
	return t
}

// A node that is not reached is called again after each pause, until it answers, it
// refuses, nobody wants to any more, or ctx ends.
func TestANodeIsCalledAgain(t *testing.T) {
	lost, refused := api.NewError(api.ReasonNoPath, "bbbb"), api.NewError(api.ReasonUnknownMethod, "bbbb")
	for _, tt := range []struct {
		name    string
		answers []error
		again   func(error) bool
		want    error
		pauses  int
	}{
		{"it answers at once", []error{nil}, peer.IsUnreached, nil, 0},
		{"it answers at last", []error{lost, lost, nil}, peer.IsUnreached, nil, 2},
		{"it refuses", []error{lost, refused}, peer.IsUnreached, refused, 1},
		{"nobody wants to", []error{lost}, func(error) bool { return false }, lost, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			clock, calls := &quick{Clock: nativetest.NewClock(time.Time{})}, 0
			err := peer.Again(t.Context(), clock, time.Second, tt.again, func() error { calls++; return tt.answers[calls-1] })
			is.True(errors.Is(err, tt.want))
			is.Equal(calls, len(tt.answers))
			is.Equal(len(clock.pauses), tt.pauses)
		})
	}
	t.Run("ctx ends", func(t *testing.T) {
		is := is.New(t)
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		err := peer.Again(ctx, nativetest.NewClock(time.Time{}), time.Second, peer.IsUnreached, func() error { calls++; cancel(); return lost })
		is.True(errors.Is(err, lost))
		is.Equal(calls, 1)
	})
	// What stood in the way all the time is why, not the end of the time.
	t.Run("ctx ends during a call", func(t *testing.T) {
		is := is.New(t)
		late := errors.New("late")
		ctx, cancel := context.WithCancelCause(t.Context())
		calls := 0
		err := peer.Again(ctx, &quick{Clock: nativetest.NewClock(time.Time{})}, time.Second, peer.IsUnreached, func() error {
			if calls++; calls == 1 {
				return lost
			}
			cancel(late)
			return fmt.Errorf("call: %w", late)
		})
		is.True(errors.Is(err, lost))
		is.Equal(calls, 2)
	})
}
