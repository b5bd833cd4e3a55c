package replica

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/ledger"
)

// change changes a node's roster, as its user does.
func (m *member) change(f func(*cluster.Roster) (*cluster.Roster, error)) {
	m.scenario.t.Helper()
	if _, err := m.holder.Update(f); err != nil {
		m.scenario.t.Fatal(err)
	}
	m.replica.RosterChanged()
}

func (m *member) remove(others ...*member) {
	m.scenario.t.Helper()
	var nodes []api.NodeID
	for _, o := range others {
		nodes = append(nodes, o.identity.Node)
	}
	m.change(func(r *cluster.Roster) (*cluster.Roster, error) { return r.Remove(m.identity, time.Now(), nodes...) })
}

// rostersAgree reports whether nodes have the same roster.
func (d *scenario) rostersAgree(nodes ...int) bool {
	for _, i := range nodes {
		if d.nodes[i].holder.Current().Head() != d.nodes[nodes[0]].holder.Current().Head() {
			return false
		}
	}
	return true
}

func TestRemovedNodeIsGoneEverywhere(t *testing.T) {
	onScenario(t, 5, func(is *is.I, d *scenario) {
		d.joinAll()
		d.agreedWithin(time.Second)
		for j := range 4 {
			d.cut(3, j) // hears of it later, through 4 alone
		}
		gone := d.nodes[2]
		gone.put(api.KindSharing, "", 1)
		d.wait(time.Second)
		d.nodes[0].remove(gone)
		d.wait(30 * time.Millisecond)
		is.True(d.rostersAgree(0, 1, 2, 3, 4)) // the removed one too knows
		for _, i := range []int{0, 1, 3, 4} {
			is.Equal(d.nodes[i].removed, []api.NodeID{gone.identity.Node})
			is.Equal(len(d.nodes[i].ledger.List(ledger.Filter{Nodes: []api.NodeID{gone.identity.Node}, Deleted: true})), 0)
		}
		gone.put(api.KindSharing, "", 2)
		gone.replica.PeerUp(d.nodes[0].identity.Node) // it does not give up
		d.nodes[0].replica.PeerUp(gone.identity.Node)
		d.wait(5 * time.Minute)
		is.Equal(d.disagreement(0, 1, 3, 4), "")
		is.Equal(d.nodes[0].value(gone, api.KindSharing, ""), "")
		for _, i := range []int{0, 1, 3, 4} {
			is.Equal(len(d.nodes[i].removed), 1)
		}
	})
}

// The process ends between the removal and what follows from it.
func TestRemovedNodesDocumentsGoAtTheNextStart(t *testing.T) {
	onScenario(t, 3, func(is *is.I, d *scenario) {
		d.nodes[2].put(api.KindSharing, "", 1)
		d.joinAll()
		d.agreedWithin(time.Second)
		d.kill(0)
		d.nodes[0].holder.Update(func(r *cluster.Roster) (*cluster.Roster, error) {
			return r.Remove(d.nodes[0].identity, time.Now(), d.nodes[2].identity.Node)
		})
		is.Equal(d.nodes[0].disk.Len(), 1)
		d.nodes[0].start()
		d.wait(time.Millisecond)
		is.Equal(d.nodes[0].disk.Len(), 0)
	})
}

func TestNewMembersDocumentsComeWithTheRoster(t *testing.T) {
	onScenario(t, 4, func(is *is.I, d *scenario) {
		d.join(0, 1)
		d.join(1, 2)
		d.join(0, 3)
		d.agreedWithin(3 * time.Second)
		d.wait(3 * time.Second)
		fresh := &member{scenario: d, identity: identityOf(99), disk: newDisk()}
		d.nodes = append(d.nodes, fresh)
		d.nodes[0].change(func(r *cluster.Roster) (*cluster.Roster, error) {
			return r.Add(d.nodes[0].identity, fresh.identity.Public(), time.Now())
		})
		fresh.holder = &holder{roster: d.nodes[0].holder.Current()}
		fresh.start()
		d.join(4, 0)
		took := d.agreedWithin(3 * time.Second)
		is.True(d.rostersAgree(0, 1, 2, 3, 4))
		is.True(took < time.Second)
	})
}

// Both halves of a cluster change the roster, and one of them often.
func TestRostersMerge(t *testing.T) {
	onScenario(t, 4, func(is *is.I, d *scenario) {
		d.join(0, 1)
		d.join(2, 3)
		d.wait(3 * time.Second)
		for i := range 60 {
			add := func(by *member, n int) {
				by.change(func(r *cluster.Roster) (*cluster.Roster, error) {
					return r.Add(by.identity, identityOf(n).Public(), time.Now())
				})
			}
			add(d.nodes[0], 1000+i)
			if i%20 == 0 {
				add(d.nodes[3], 2000+i)
			}
		}
		d.wait(time.Second)
		is.True(d.rostersAgree(0, 1) && d.rostersAgree(2, 3) && !d.rostersAgree(1, 2))
		d.join(1, 2)
		d.wait(500 * time.Millisecond)
		is.True(d.rostersAgree(0, 1, 2, 3))
		is.Equal(len(d.nodes[3].holder.Current().Current()), 4+60+3)
		d.net.total()
		d.wait(5 * time.Minute)
		is.Equal(d.net.count(methodRoster), 0)
	})
}
