package node

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func (m *mac) removals() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.removed
}

// remove removes another Mac, or this one.
func (m *mac) remove(other *mac) error {
	_, err := m.Remove(context.Background(), []api.NodeID{other.identity.Node}, false)
	return err
}

// out says what is left of a removed Mac at some others.
func (d *scenario) out(gone *mac, at []*mac) func() string {
	return func() string {
		for _, m := range at {
			if problem := m.alone(gone); problem != "" {
				return fmt.Sprintf("at %s: %s", m.host(), problem)
			}
			if paths := m.transport.Paths(gone.identity.Node); len(paths) > 0 {
				return fmt.Sprintf("%s has a path", m.host())
			}
			if m.State(gone.identity.Node).Liveness == api.LivenessAlive {
				return fmt.Sprintf("%s has it for alive", m.host())
			}
		}
		return ""
	}
}

func TestRemove(t *testing.T) {
	if testing.Short() {
		t.Skip("twenty minutes of heartbeats")
	}
	in(t, 4, func(d *scenario) {
		is := is.New(d.t)
		gone, rest := d.macs[3], d.macs[:3]
		gone.report(1)
		d.pass(time.Second)
		dry, err := d.macs[1].Remove(context.Background(), []api.NodeID{d.macs[0].identity.Node}, true)
		is.NoErr(err)
		is.Equal(len(dry.Invited), 3) // whom it had added
		is.NoErr(d.macs[1].remove(gone))
		took := d.within(3*time.Second, d.out(gone, rest))
		is.True(took < time.Second)
		is.Equal(gone.removals(), 1) // it was told
		for _, m := range rest {
			is.True(m.sharing.pruned > 0)
		}
		is.True(errors.Is(d.macs[1].remove(gone), api.ReasonNotAMember))
		// It goes on as if it knew nothing, and gets nowhere.
		gone.report(2)
		rest[0].report(99)
		d.pass(10 * time.Minute)
		is.Equal(d.out(gone, rest)(), "")
		is.True(gone.receives(rest[0]) != 99)
		gone.halt()
		gone.start()
		d.pass(10 * time.Minute)
		is.Equal(d.out(gone, rest)(), "")
		is.True(gone.receives(rest[0]) != 99)
		is.Equal(d.broken(rest, 2), "")
	})
}

// A Mac that is cut off is removed, comes back, and is out. What it let in
// meanwhile is out too.
func TestRemovedWhileCutOff(t *testing.T) {
	in(t, 4, func(d *scenario) {
		is := is.New(d.t)
		gone, rest := d.macs[3], d.macs[:3]
		friend := d.add()
		friend.start()
		d.split([]*mac{gone, friend}, rest, true)
		d.pass(time.Minute)
		is.NoErr(rest[0].remove(gone))
		code := gone.Pair(api.ClusterPairParams{}).Code
		d.pass(time.Second)
		is.NoErr(friend.join(code))
		gone.report(13)
		d.pass(time.Minute)
		is.Equal(gone.removals(), 0)
		is.Equal(d.out(gone, rest)(), "")
		d.split([]*mac{gone, friend}, rest, false)
		d.pass(5 * time.Minute)
		is.Equal(d.out(gone, rest)(), "")
		is.Equal(d.out(friend, rest)(), "")
		is.Equal(d.broken(rest, 2), "")
	})
}

// A Mac that was off while it was removed finds out that nobody knows it; it
// comes back with another key only.
func TestRemovedComesBackWithAnotherKey(t *testing.T) {
	in(t, 3, func(d *scenario) {
		is := is.New(d.t)
		gone, rest := d.macs[2], d.macs[:2]
		gone.halt()
		d.pass(time.Second)
		is.NoErr(rest[0].remove(gone))
		code := rest[0].Pair(api.ClusterPairParams{}).Code
		was := gone.identity
		gone.disk = newDisk() // the database is lost, and the key is not
		gone.start()
		d.pass(time.Second)
		err := gone.join(code)
		is.True(errors.Is(err, api.ReasonRemoved))
		gone.halt()
		gone.identity, gone.disk = identityOf(77), newDisk()
		gone.start()
		rest[0].Pair(api.ClusterPairParams{Close: true})
		code = rest[0].Pair(api.ClusterPairParams{}).Code
		d.pass(time.Second)
		is.NoErr(gone.join(code))
		d.whole(30 * time.Second)
		is.True(!rest[1].holder.IsMember(was.Node))
	})
}

// Whoever leaves is out for all others, and begins anew.
func TestLeave(t *testing.T) {
	in(t, 3, func(d *scenario) {
		is := is.New(d.t)
		leaver, rest := d.macs[1], d.macs[:1]
		rest = append(rest[:1:1], d.macs[2])
		is.NoErr(leaver.remove(leaver))
		d.within(3*time.Second, d.out(leaver, rest))
		is.Equal(leaver.removals(), 1)
		d.pass(10 * time.Minute)
		is.Equal(d.out(leaver, rest)(), "")
		is.Equal(d.broken(rest, 2), "")
	})
}

// Two remove each other at the same time, cut off from each other: every member
// comes to the same end, whatever that is.
func TestRemoveEachOther(t *testing.T) {
	in(t, 4, func(d *scenario) {
		is := is.New(d.t)
		a, b := d.macs[1], d.macs[2]
		d.split([]*mac{d.macs[0], a}, []*mac{b, d.macs[3]}, true)
		d.pass(time.Minute)
		is.NoErr(a.remove(b))
		is.NoErr(b.remove(a))
		d.pass(time.Second)
		d.split([]*mac{d.macs[0], a}, []*mac{b, d.macs[3]}, false)
		d.pass(2 * time.Minute)
		first, last := d.macs[0], d.macs[3]
		is.Equal(first.holder.Members(), last.holder.Members())
		is.Equal(d.broken([]*mac{first, last}, 2), "")
		d.t.Logf("members after: %d", len(first.holder.Members()))
	})
}
