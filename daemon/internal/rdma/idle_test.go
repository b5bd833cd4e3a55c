package rdma

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// From before anything is looked at until the change is in force or put back, both
// ends say that nothing may begin; a dry run and what is settled keep nobody waiting.
func TestNothingBeginsDuringAChange(t *testing.T) {
	bubble(t, pair, func(t *testing.T, d *table) {
		is := is.New(t)
		link := cable(nodeA, 2, nodeB, 2)
		changing := func() [2]bool { return [2]bool{d.owner(nodeA).Changing(), d.owner(nodeB).Changing()} }
		none, both := [2]bool{}, [2]bool{true, true}
		_, err := d.owner(nodeA).Enable(t.Context(), ada, link, true, nil)
		is.NoErr(err)
		is.Equal(changing(), none)
		proven := 0
		d.prove = func(api.LinkID) error {
			proven++
			if changing() != both {
				t.Error("a job could begin before the change is in force")
			}
			return nil
		}
		_, err = d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
		is.NoErr(err)
		is.Equal(proven, 1)
		is.Equal(changing(), none)

		// Putting back takes as long as the address lingers.
		done := make(chan error, 1)
		go func() {
			_, err := d.owner(nodeA).Disable(t.Context(), ada, link)
			done <- err
		}()
		settle(50 * time.Millisecond)
		is.True(changing() != none)
		is.NoErr(<-done)
		settle(time.Second)
		is.Equal(changing(), none)
	})
}

// What was lent in between is found after everything is kept out, at planning and at
// putting back, and a test of the cable that runs is waited for.
func TestAChangeFindsWhatBeganBefore(t *testing.T) {
	bubble(t, pair, func(t *testing.T, d *table) {
		is := is.New(t)
		link := cable(nodeA, 2, nodeB, 2)
		far := d.hosts[nodeB]
		until := time.Now().Add(5 * time.Second)
		far.setQuiet(func(ctx context.Context, r api.PortNumber) *api.Error {
			is.Equal(r, api.PortNumber(2))
			if !d.owner(nodeB).Changing() {
				t.Error("a job could begin while the test is waited for")
			}
			select {
			case <-time.After(time.Until(until)):
				return nil
			case <-ctx.Done():
				return api.NewError(api.ReasonLinkBusy, "a test")
			}
		})
		_, err := d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
		is.NoErr(err)
		is.True(!time.Now().Before(until))

		picture := far.mac.picture()
		until = time.Now().Add(time.Hour)
		_, err = d.owner(nodeA).Disable(t.Context(), ada, link)
		is.True(errors.Is(err, api.ReasonLinkBusy))
		is.Equal(far.mac.picture(), picture) // nothing was put back
		is.Equal(d.owner(nodeB).Changing(), false)
	})
}
