package node

import (
	"context"
	"net/netip"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/discover"
	"fulmen/daemon/internal/cluster/pairing"
)

// lookAround keeps the inbox in step with the Macs nearby that say that they
// take others in, or want to be taken in: both show a code. Who they are is
// asked of each once; they hear nothing of this node by that.
func (n *Node) lookAround(ctx context.Context) {
	known := map[string]api.NodeID{} // by the id under which a Mac waits
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.strangers:
		}
		there := map[string]bool{}
		for _, s := range n.finder.Strangers() {
			there[s.Pairing] = true
			if _, isKnown := known[s.Pairing]; !isKnown {
				if node, ok := n.peek(ctx, s); ok {
					known[s.Pairing] = node
				}
			}
		}
		for waiting, node := range known {
			if !there[waiting] {
				delete(known, waiting)
				n.mu.Lock()
				n.inbox.Remove(node)
				n.mu.Unlock()
				if err := n.options.Documents.Delete(api.KindPending, string(node)); err != nil {
					n.log.Error("the inbox could not be published", "error", err)
				}
			}
		}
	}
}

// peek finds out who a stranger is, and takes it up in the inbox.
func (n *Node) peek(ctx context.Context, s discover.Stranger) (api.NodeID, bool) {
	for _, c := range s.Candidates {
		within, cancel := n.within(ctx, joinWithin/3, c.Address.String())
		key, err := n.transport.Peek(within, c.Interface, c.Address)
		cancel()
		if err != nil {
			n.log.Debug("a Mac that waits did not say who it is", "at", c.Address, "error", err)
			continue
		}
		node := api.NodeIDFromKey(key)
		if node == n.self || n.options.Roster.IsMember(node) {
			return node, true
		}
		asking := pairing.Asking{
			Node: node, Interface: c.Interface, Remote: c.Address.Addr(),
			Claim: pairing.Claim{
				Name: "Mac at " + c.Address.Addr().String(), Port: int(c.Address.Port()),
				ValidMS: api.CodeTTL.Milliseconds(), TriesLeft: api.MaxCodeTries,
			},
		}
		if len(n.options.Roster.Members()) > 1 {
			n.asked(asking)
		} else {
			n.shows(asking, s)
		}
		return node, true
	}
	return "", false
}

// shows publishes a Mac that shows a code, on one that is alone and may join it:
// somebody may be about to type it, so that nothing is held back.
func (n *Node) shows(a pairing.Asking, s discover.Stranger) {
	now := n.options.Platform.Clock.Now()
	err := n.options.Documents.Put(api.KindPending, string(a.Node), api.Pending{
		Peer: a.Node, Name: a.Claim.Name, Address: netip.AddrPortFrom(a.Remote, uint16(a.Claim.Port)), Interface: a.Interface,
		State: api.PendingAsking, Since: api.TimeOf(s.Since), ExpiresAt: api.TimeOf(now.Add(api.CodeTTL)), TriesLeft: a.Claim.TriesLeft,
	}, nil)
	if err != nil {
		n.log.Error("a Mac that shows a code could not be published", "error", err)
	}
}
