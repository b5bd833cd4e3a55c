package topology

import (
	"net/netip"

	"fulmen/daemon/api"
)

// twins finds the two directions of a way between two addresses: each end has
// reached the other one's address from its own.
type twins map[twinKey]*Path

// twinKey is a path by its end points, without zones, which are each node's own.
type twinKey struct {
	from, to     api.NodeID
	source, sink netip.Addr
}

func newTwins(paths []Path) twins {
	all := make(twins, len(paths))
	for i := range paths {
		p := &paths[i]
		if p.Source.IsValid() && !p.Crossed {
			all[keyOf(p)] = p
		}
	}
	return all
}

func keyOf(p *Path) twinKey {
	return twinKey{p.From, p.To, bareAddress(p.Source), bareAddress(p.Address)}
}

// of is the other direction of a path; nil where the other end does not tell of it.
func (t twins) of(p *Path) *Path {
	if !p.Source.IsValid() {
		return nil
	}
	k := keyOf(p)
	twin := t[twinKey{k.to, k.from, k.sink, k.source}]
	if twin == nil || twin == p || p.PeerInterface != "" && twin.Interface != p.PeerInterface {
		return nil // of link-local addresses one may be on several interfaces
	}
	return twin
}

// newerOf is the newer of a path's own profile and of its twin's, turned round.
func newerOf(own, twin *Profile, p *Path) *Profile {
	if twin == nil || own != nil && !own.MeasuredAt.Before(twin.MeasuredAt.Time) {
		return own
	}
	turned := *twin
	turned.turned = twin
	turned.Peer, turned.Source, turned.Sink, turned.Interface = p.To, p.Source, p.Address, p.Interface
	turned.UpBitsPerS, turned.DownBitsPerS = twin.DownBitsPerS, twin.UpBitsPerS
	if t := twin.Together; t != nil {
		turned.Together = &api.LinkTogether{Sources: t.Sinks, Sinks: t.Sources, UpBitsPerS: t.DownBitsPerS, DownBitsPerS: t.UpBitsPerS, Reason: t.Reason}
	}
	return &turned
}

// Owned are the paths that a node measures, so that a way between two addresses is
// measured by one of its ends alone: that with the lower id. Where only one end
// tells of a way, it is that one's; isAlone says so of those that would be the
// other's if it told of them.
func (g Graph) Owned(node api.NodeID) (owned []Path, isAlone map[string]bool) {
	t := newTwins(g.Paths)
	isAlone = map[string]bool{}
	for i := range g.Paths {
		p := &g.Paths[i]
		if p.From != node || p.Crossed {
			continue
		}
		twin := t.of(p)
		if twin != nil && p.To < p.From {
			continue
		}
		if twin == nil && p.To < p.From {
			isAlone[p.target().String()] = true
		}
		owned = append(owned, *p)
	}
	return owned, isAlone
}
