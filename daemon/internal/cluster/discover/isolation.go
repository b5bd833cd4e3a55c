package discover

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

// isolatedAfter is how long two nodes must be in one network without hearing or
// reaching each other there before that is told. It is longer than discovery and
// a few attempts to connect take.
const isolatedAfter = 2 * time.Minute

// Isolation is a network that does not let this node and a member see each
// other. Its reason is [api.ReasonNetworkIsolatesClients].
type Isolation struct {
	// Interface is this node's.
	Interface string
	// Node and PeerInterface are the other end.
	Node          api.NodeID
	PeerInterface string
}

// sharedKey is a pair of interfaces in what looks like one network.
type sharedKey struct {
	network netip.Prefix
	at      Isolation
}

// share notes since when this node and members have interfaces in networks of
// one number.
func (s *state) share(boot time.Duration) {
	now := map[sharedKey]time.Duration{}
	for node, document := range s.documents {
		for _, theirs := range attachments(document) {
			for _, own := range s.attachments {
				for _, network := range common(own, theirs) {
					key := sharedKey{network, Isolation{own.name, node, theirs.name}}
					since, known := s.shared[key]
					if !known {
						since = boot
					}
					now[key] = since
				}
			}
		}
	}
	s.shared = now
}

// common are the networks that two interfaces are both in, if both are of a kind
// whose network can keep its stations apart.
func common(a, b attachment) (all []netip.Prefix) {
	for _, i := range []attachment{a, b} {
		if !i.isUsable || i.isCable {
			return nil
		}
	}
	for _, p := range a.prefixes {
		for _, q := range b.prefixes {
			if p.Addr() != q.Addr() && p.Masked() == q.Masked() && !isSelfAssigned(p) {
				all = append(all, p.Masked())
			}
		}
	}
	return all
}

// isolation is told only with evidence: for a while both have been in a network
// of one number; the member is neither heard nor reached there, nor is anybody
// else; and it is online at this moment by a direct link, Thunderbolt or another
// network that both are in. That link shows that the two are near each other, so
// that the one number is not that of two homes.
func (s *state) isolation(boot time.Duration) (found []Isolation) {
	for key, since := range s.shared {
		if boot-since >= isolatedAfter && !s.isSocial(key.at.Interface) && s.isNear(key.at.Node, key.at.Interface) &&
			!slices.Contains(found, key.at) {
			found = append(found, key.at)
		}
	}
	slices.SortFunc(found, func(a, b Isolation) int {
		return cmp.Or(cmp.Compare(a.Interface, b.Interface), cmp.Compare(a.Node, b.Node), cmp.Compare(a.PeerInterface, b.PeerInterface))
	})
	return found
}

// isSocial reports whether anybody at all is heard or reached by an interface.
func (s *state) isSocial(name string) bool {
	if c := s.neighbours[name]; c != nil && len(c.entries) > 0 {
		return true
	}
	for _, paths := range s.paths {
		for _, p := range paths {
			if p.Interface == name && p.State != api.PathFailed {
				return true
			}
		}
	}
	return false
}

// isNear reports whether a node is online by a direct link other than the
// interface, and by so few that the transport would have taken one more.
func (s *state) isNear(node api.NodeID, except string) bool {
	up, isNear := 0, false
	for _, p := range s.paths[node] {
		if p.State != api.PathActive {
			continue
		}
		up++
		own := s.attachments[p.Interface]
		isNear = isNear || p.Interface != except && own.isUsable && (own.isCable || own.reaches(p.Address.Addr()))
	}
	return isNear && up < api.MaxPaths
}

// nextIsolation is when one that is not told yet may be.
func (s *state) nextIsolation(boot time.Duration) (next time.Duration) {
	next = native.Forever
	for _, since := range s.shared {
		if at := since + isolatedAfter; at > boot {
			next = min(next, at)
		}
	}
	return next
}
