package cluster

import (
	"errors"
	"slices"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

// scenario is several nodes, each with the roster as it knows it.
type scenario struct {
	t    *testing.T
	ids  []Identity
	view []*Roster // nil: not a member of anything yet
}

// newScenario is n nodes, of which the first has a cluster.
func newScenario(t *testing.T, n int) *scenario {
	d := &scenario{t: t, view: make([]*Roster, n)}
	for i := range n {
		d.ids = append(d.ids, testIdentity(byte(i+1)))
	}
	d.view[0] = testRoster(t)
	return d
}

func (d *scenario) add(by, whom int) {
	d.t.Helper()
	next, err := d.view[by].Add(d.ids[by], d.ids[whom].Public(), testTime())
	if err != nil {
		d.t.Fatal(err)
	}
	d.view[by] = next
	if d.view[whom] == nil {
		d.view[whom] = next
	}
}

func (d *scenario) remove(by int, whom ...int) {
	d.t.Helper()
	var nodes []api.NodeID
	for _, w := range whom {
		nodes = append(nodes, d.ids[w].Node)
	}
	next, err := d.view[by].Remove(d.ids[by], testTime(), nodes...)
	if err != nil {
		d.t.Fatal(err)
	}
	d.view[by] = next
}

// meet lets nodes tell each other all they know.
func (d *scenario) meet(nodes ...int) {
	d.t.Helper()
	for range 2 {
		for _, a := range nodes {
			for _, b := range nodes {
				next, _, err := d.view[a].Merge(d.view[b].Missing(d.view[a].Sample()))
				if err != nil {
					d.t.Fatal(err)
				}
				d.view[a] = next
			}
		}
	}
}

// members are the numbers of those whom a node takes for members.
func (d *scenario) members(at int) []int {
	var all []int
	for i, id := range d.ids {
		if d.view[at].IsMember(id.Node) {
			all = append(all, i)
		}
	}
	return all
}

func TestAddAndRemove(t *testing.T) {
	is := is.New(t)
	d := newScenario(t, 4)
	d.add(0, 1)
	d.add(1, 2)
	d.meet(0, 1, 2)
	is.Equal(d.members(0), []int{0, 1, 2})
	is.Equal(d.view[0].InvitedBy(d.ids[1].Node), []api.NodeID{d.ids[2].Node})
	d.remove(0, 1)
	d.meet(0, 2)
	is.Equal(d.members(2), []int{0, 2}) // whom it had added before stays
	is.True(d.view[2].IsRemoved(d.ids[1].Node))
	_, isMember := d.view[2].PublicKey(d.ids[1].Node)
	key, signed := d.view[2].SignerKey(d.ids[1].Node)
	is.True(!isMember && signed) // what it signed as a member is still checked
	is.Equal(key, d.ids[1].Public())
	_, signed = d.view[2].SignerKey(testIdentity(99).Node)
	is.True(!signed)
	_, ok := d.view[2].PublicKey(d.ids[1].Node)
	is.True(!ok)
	removed := d.view[2].Members()[1]
	is.Equal(removed.RemovedBy, d.ids[0].Node)
	is.True(!removed.RemovedAt.IsZero())

	_, err := d.view[0].Add(d.ids[0], d.ids[1].Public(), testTime())
	is.True(errors.Is(err, api.ReasonRemoved)) // for good
	_, err = d.view[0].Add(d.ids[0], d.ids[2].Public(), testTime())
	is.True(errors.Is(err, api.ReasonAlreadyMember))
	_, err = d.view[0].Remove(d.ids[0], testTime(), d.ids[3].Node)
	is.True(errors.Is(err, api.ReasonNotAMember))
	_, err = d.view[0].Add(d.ids[1], d.ids[3].Public(), testTime())
	is.True(errors.Is(err, api.ReasonNotAMember)) // signed by the removed one
}

func TestLeaving(t *testing.T) {
	is := is.New(t)
	d := newScenario(t, 3)
	d.add(0, 1)
	d.add(0, 2)
	d.remove(0, 0, 1) // itself too, and last
	d.view[2] = d.view[0]
	is.Equal(d.members(0), []int{2})
}

// A node that was removed goes on adding others before it hears of it.
func TestRemovalUndoesWhatItHadNotSeen(t *testing.T) {
	is := is.New(t)
	d := newScenario(t, 5)
	d.add(0, 1)
	d.meet(0, 1)
	d.add(1, 2) // seen by nobody else
	d.meet(1, 2)
	d.add(2, 3)
	d.remove(2, 0) // by whom should not be there
	d.meet(2, 3)
	d.remove(0, 1)
	d.meet(0, 1, 2, 3)
	for at := range 4 {
		is.Equal(d.members(at), []int{0}) // not 2, nor 3, and 0 itself stays
	}
	is.Equal(d.view[1].Head(), d.view[0].Head())
	// What it added after it could have known counts even less.
	next, err := d.view[1].Remove(d.ids[1], testTime(), d.ids[0].Node)
	is.True(next == nil && errors.Is(err, api.ReasonNotAMember))
}

// Both are gone: a removal is final, whoever was faster.
func TestMutualRemoval(t *testing.T) {
	is := is.New(t)
	d := newScenario(t, 3)
	d.add(0, 1)
	d.add(0, 2)
	d.meet(0, 1, 2)
	d.remove(1, 2)
	d.remove(2, 1)
	d.meet(0, 1, 2)
	is.Equal(d.members(0), []int{0})
	is.Equal(d.members(2), []int{0})
}

// Each removes, by a node that it has just added, whoever added the other's.
func TestCircleOfRemovals(t *testing.T) {
	is := is.New(t)
	d := newScenario(t, 6)
	d.add(0, 1)
	d.add(0, 2)
	d.meet(0, 1, 2)
	d.add(1, 3)
	d.add(2, 4)
	d.meet(1, 3)
	d.meet(2, 4)
	d.remove(3, 2)
	d.remove(4, 1)
	d.meet(0, 3)
	d.meet(0, 1, 2, 3, 4)
	is.Equal(d.members(0), d.members(4))
	is.Equal(d.members(0), []int{0})
}

func TestMergeTakesTheGoodOnes(t *testing.T) {
	is := is.New(t)
	d := newScenario(t, 4)
	base := d.view[0]
	d.add(0, 1)
	d.add(0, 2)
	d.add(0, 3)
	all := d.view[0].Missing(base.Sample())
	is.Equal(len(all), 3)
	bad := all[1]
	bad.Sig = all[0].Sig
	shuffled := []SignedEntry{all[2], bad, all[1], all[0], all[0]}
	next, fresh, err := base.Merge(shuffled)
	is.True(errors.Is(err, api.ReasonBadSignature))
	is.Equal(len(fresh), 3)
	is.Equal(next.Head(), d.view[0].Head())
	same, fresh, err := next.Merge(all)
	is.NoErr(err)
	is.True(same == next && len(fresh) == 0)
	_, fresh, err = base.Merge(all[1:])
	is.True(errors.Is(err, ErrGap))
	is.Equal(len(fresh), 0)
	is.True(!base.IsMember(d.ids[1].Node)) // it did not change
}

func TestRosterIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("fills a roster")
	}
	is := is.New(t)
	r, self := testRoster(t), testIdentity(1)
	h := r.history.copied()
	for len(h.steps) < MaxEntries {
		e, err := SignEntry(Entry{Type: "from a later version", After: h.heads(), By: self.Node, At: api.TimeOf(testTime()), Node: self.Node}, self)
		is.NoErr(err)
		is.NoErr(h.add(e))
	}
	full := judged(h)
	_, err := full.Add(self, testIdentity(2).Public(), testTime())
	is.True(errors.Is(err, api.ReasonRosterConflict))
	is.True(len(full.Sample()) < 64) // thins out
}

// Whatever nodes do while cut off from each other, those that meet agree, and
// the order in which entries come does not matter.
func TestConvergence(t *testing.T) {
	for seed := range testkit.Upto(t, 60) {
		rng := seed.Source(1)
		d := newScenario(t, 6)
		for range 40 {
			at := rng.IntN(len(d.ids))
			switch whom := rng.IntN(len(d.ids)); {
			case d.view[at] == nil || !d.view[at].IsMember(d.ids[at].Node):
			case rng.IntN(3) == 0:
				if d.view[whom] != nil {
					d.meet(at, whom)
				}
			case d.view[at].IsMember(d.ids[whom].Node):
				if rng.IntN(3) == 0 {
					d.remove(at, whom)
				}
			case !d.view[at].IsRemoved(d.ids[whom].Node) && d.view[whom] == nil:
				d.add(at, whom)
			}
		}
		var there []int
		for i, v := range d.view {
			if v != nil {
				there = append(there, i)
			}
		}
		d.meet(there...)
		want := d.view[0]
		for _, i := range there {
			is := is.New(t)
			is.Equal(d.view[i].Head(), want.Head())
			is.Equal(d.view[i].Members(), want.Members())
		}
		log := want.Log()[1:]
		rng.Shuffle(len(log), func(i, j int) { log[i], log[j] = log[j], log[i] })
		other, _, err := testRoster(t).Merge(log)
		is := is.New(t)
		is.NoErr(err)
		is.Equal(other.Members(), want.Members())
		is.True(slices.IsSorted(other.Heads()))
	}
}
