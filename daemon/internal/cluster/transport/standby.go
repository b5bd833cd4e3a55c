package transport

import (
	"maps"
	"slices"

	"fulmen/daemon/api"
)

// way is how the path would be dialled.
func (p Path) way() way { return way{p.Interface, p.Address} }

// isUnprovenLocked reports whether nothing is known yet of what is at an IPv4 address, which
// jobs may be given. A way that does not answer is left alone until something changes: no
// path waits for it.
func (t *Transport) isUnprovenLocked(p *peer, w way, a *attempt) bool {
	if !w.to.Addr().Is4() || a.failures >= forgivesFrom {
		return false
	}
	isProof := func(at Path) bool {
		return at.State != api.PathFailed && at.Address.Addr() == w.to.Addr() && (w.iface == "" || at.rank <= t.rankOfLocked(w.iface))
	}
	return !slices.ContainsFunc(p.allLocked(), isProof)
}

// allLocked are all paths, in no order.
func (p *peer) allLocked() []Path {
	return slices.AppendSeq(slices.Collect(maps.Values(p.known)), maps.Values(p.standby))
}

// isCandidate reports whether a path leads to an address at which the peer may be reached, as
// was said last.
func (p *peer) isCandidate(path Path) bool {
	return slices.ContainsFunc(p.candidates, func(c Candidate) bool { return c.Address.Addr() == path.Address.Addr() })
}

// standByLocked notes an address that has answered, and has no connection for packets of its
// own: another one serves its interfaces, or there are as many as there may be. One that the
// peer does not have any more may have answered just before.
func (t *Transport) standByLocked(p *peer, at place, path Path) {
	if len(p.candidates) > 0 && !p.isCandidate(path) {
		return
	}
	if serving := p.known[at]; !path.Address.Addr().Is4() || serving.State == api.PathActive && serving.Address == path.Address {
		return
	}
	path.State, path.Since, path.Reason, path.RTTUS, path.rank = api.PathStandby, t.options.Clock.Now(), "", 0, t.rankOfLocked(path.Interface)
	isKnown := p.standby[path.way()].State == api.PathStandby
	p.standby[path.way()] = path
	if !isKnown {
		t.events.add(PathEvent{Node: p.node, Path: path}, nil)
	}
}

// dropLocked forgets what stands by and is over.
func (t *Transport) dropLocked(p *peer, reason api.Reason, isOver func(Path) bool) {
	for w, at := range p.standby {
		if !isOver(at) {
			continue
		}
		delete(p.standby, w)
		if at.State == api.PathStandby {
			at.State, at.Since, at.Reason = api.PathFailed, t.options.Clock.Now(), reason
			t.events.add(PathEvent{Node: p.node, Path: at}, nil)
		}
	}
}
