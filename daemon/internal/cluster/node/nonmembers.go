package node

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/discover"
	"fulmen/daemon/internal/cluster/pairing"
	"fulmen/daemon/internal/cluster/transport"
	"fulmen/native"
)

// neighbour is a Mac nearby that waits, as it was found out.
type neighbour struct {
	nonMember discover.NonMember
	asking    pairing.Asking
	isKnown   bool // who it is was found out
	isShown   bool
	failed    int // how often it did not say who it is
}

// again is when to look at the neighbour again: one that did not answer may only
// just have begun to listen; for one that answered there was no room in the inbox.
func (m *neighbour) again() time.Duration {
	if m.isKnown {
		return pairing.InboxGap
	}
	return min(pairing.InboxGap, time.Second<<min(m.failed, 10))
}

// lookAround keeps the inbox in step with the Macs nearby that say that they
// take others in, or want to be taken in: both show a code. Who they are is
// asked of each once; they hear nothing of this node by that. One for which the
// inbox has no room yet is shown later, while it still waits.
func (n *Node) lookAround(ctx context.Context) {
	nearby := map[string]*neighbour{} // by the id under which a Mac waits
	soon := native.Forever
	for native.Wait(ctx, n.options.Platform.Clock, soon, n.nonMembers) {
		soon = native.Forever
		n.takeOutMembers()
		there := map[string]bool{}
		for _, s := range n.finder.Load().NonMembers() {
			there[s.Pairing] = true
			m := nearby[s.Pairing]
			if m == nil {
				m = &neighbour{nonMember: s}
				nearby[s.Pairing] = m
			}
			if !m.isKnown {
				m.asking, m.isKnown = n.peek(ctx, s)
			}
			switch {
			case !m.isKnown:
				m.failed++
			case !m.isShown:
				m.isShown = n.present(m)
			}
			if !m.isShown {
				soon = min(soon, m.again())
			}
		}
		for waiting, m := range nearby {
			if !there[waiting] {
				delete(nearby, waiting)
				n.forget(m.asking.Node)
			}
		}
	}
}

// nameless is what a Mac is called that has not said who it is.
func nameless(at netip.AddrPort) string { return "Mac at " + at.Addr().String() }

// peek finds out who a stranger is: it says its name and model to whoever asks
// while it shows its code, and hears nothing of this node. One that says no more
// than its key is called after its address.
func (n *Node) peek(ctx context.Context, s discover.NonMember) (pairing.Asking, bool) {
	for _, c := range s.Candidates {
		within, cancel := n.within(ctx, joinWithin/3, c.Address.String())
		node, claim, err := n.ask(within, c)
		cancel()
		if err != nil {
			n.log.Debug("a Mac that waits did not say who it is", "at", c.Address, "error", err)
		}
		if node == "" {
			continue
		}
		return pairing.Asking{Node: node, Interface: c.Interface, Address: c.Address, Claim: claim}, true
	}
	return pairing.Asking{}, false
}

// ask asks the Mac at an address who it is. Its id is given also where it says no
// more.
func (n *Node) ask(ctx context.Context, at transport.Candidate) (api.NodeID, pairing.Claim, error) {
	conn, err := n.transport.Peek(ctx, at.Interface, at.Address)
	if err != nil {
		return "", pairing.Claim{}, err
	}
	defer conn.Close()
	claim, err := pairing.Ask(ctx, conn, n.options.Platform.Clock)
	if err != nil {
		claim = pairing.Claim{Name: nameless(at.Address), ValidMS: api.CodeTTL.Milliseconds(), TriesLeft: api.MaxCodeTries}
	}
	return conn.Peer(), claim, err
}

// present takes a Mac up in the inbox, and reports whether nothing is left to be
// done about it.
func (n *Node) present(m *neighbour) bool {
	switch node := m.asking.Node; {
	case node == n.self || n.options.Roster.IsMember(node):
	case len(n.options.Roster.Members()) > 1:
		return n.asked(m.asking)
	default:
		n.shows(m.asking, m.nonMember)
	}
	return true
}

// forget takes a Mac out of the inbox that does not wait any more. What a person
// has put off or ignored stays so, should it come again.
func (n *Node) forget(node api.NodeID) {
	n.mu.Lock()
	isKept := slices.ContainsFunc(n.inbox.List(), func(p api.Pending) bool {
		return p.Peer == node && (p.State == api.PendingIgnored || p.State == api.PendingLater)
	})
	n.mu.Unlock()
	if node != "" && !isKept {
		n.takeOut(node)
	}
}

// takeOut takes a Mac out of the inbox for good.
func (n *Node) takeOut(node api.NodeID) {
	n.mu.Lock()
	n.inbox.Remove(node)
	n.mu.Unlock()
	n.withdraw(api.KindPending, string(node))
}

// takeOutMembers takes out who was let in, by whomever.
func (n *Node) takeOutMembers() {
	n.mu.Lock()
	list := n.inbox.List()
	n.mu.Unlock()
	for _, p := range list {
		if n.options.Roster.IsMember(p.Peer) {
			n.takeOut(p.Peer)
		}
	}
}

// shows publishes a Mac that shows a code, on one that is alone and may join it:
// somebody may be about to type it, so that nothing is held back.
func (n *Node) shows(a pairing.Asking, s discover.NonMember) {
	now := n.options.Platform.Clock.Now()
	n.publish(api.KindPending, string(a.Node), api.Pending{
		Peer: a.Node, Name: a.Name, ModelName: a.ModelName, Address: a.Address, Interface: a.Interface, State: api.PendingAsking,
		Since: api.TimeOf(s.Since), ExpiresAt: api.TimeOf(now.Add(time.Duration(a.ValidMS) * time.Millisecond)), TriesLeft: a.TriesLeft,
	})
}
