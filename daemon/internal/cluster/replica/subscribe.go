package replica

import (
	"encoding/json"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

// subscription is this node's one subscription to a neighbour's documents of
// live kinds, for all who watch them here. Replica.mu guards it.
type subscription struct {
	// wanted are the kinds that somebody watches, kinds those of sub.
	wanted, kinds []api.Kind
	sub           api.Subscription
	// n is the number of the last notification; early is of a subscription whose
	// answer has not come yet.
	n        uint64
	early    uint64
	earlySub api.Subscription
	// ended are former ones of which the other side may not know.
	ended     []api.Subscription
	isWorking bool
	// isBroken says that something was missed.
	isBroken bool
	failures int
	received time.Duration
	silence  native.Timer
}

// followInterest keeps the subscriptions as somebody here watches.
func (r *Replica) followInterest() {
	hints, done := r.ledger.WatchInterest()
	defer done()
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-hints:
		case <-r.interest:
		}
		r.mu.Lock()
		near := r.neighboursLocked(func(*peer) bool { return true })
		r.mu.Unlock()
		for _, p := range near {
			var wanted []api.Kind
			for _, info := range api.Kinds() {
				if (info.Live || info.Fresh) && r.ledger.Interested(info.Kind, p.node) {
					wanted = append(wanted, info.Kind)
				}
			}
			r.mu.Lock()
			p.live.wanted = wanted
			if !p.live.isWorking && p.live.isStale() && !p.isGone() {
				p.live.isWorking = true
				r.spawnLocked(func() { r.subscribe(p) })
			}
			r.mu.Unlock()
		}
	}
}

// isStale reports whether there is something to do.
func (s *subscription) isStale() bool {
	return !slices.Equal(s.wanted, s.kinds) || s.isBroken && len(s.wanted) > 0 || len(s.ended) > 0
}

// subscribe makes, changes and ends a subscription until it is as wanted.
func (r *Replica) subscribe(p *peer) {
	for {
		r.mu.Lock()
		s := &p.live
		if !s.isStale() || p.isGone() {
			s.isWorking = false
			r.mu.Unlock()
			return
		}
		wanted := s.wanted
		if s.isBroken || !slices.Equal(wanted, s.kinds) {
			if s.sub != "" {
				s.ended = append(s.ended, s.sub)
			}
			s.sub, s.kinds, s.isBroken = "", nil, false
		}
		isNew := len(wanted) > 0 && s.sub == ""
		r.mu.Unlock()
		err := r.resubscribe(p, wanted, isNew)
		r.mu.Lock()
		if err != nil {
			s.isWorking = false
			pause := min(r.timing.Retry<<min(s.failures, 10), r.timing.Period)
			s.failures++
			if !p.isGone() {
				r.clock.AfterFunc(pause, r.interest.Wake)
			}
			r.mu.Unlock()
			return
		}
		s.failures = 0
		r.mu.Unlock()
	}
}

// watchResult is api.PeerWatchResult with documents as bytes.
type watchResult struct {
	Sub  api.Subscription  `json:"sub"`
	Docs []json.RawMessage `json:"docs"`
}

// resubscribe subscribes to kinds, and then ends former subscriptions, so that
// what is watched all the time does not stop in between.
func (r *Replica) resubscribe(p *peer, kinds []api.Kind, isNew bool) error {
	if isNew {
		var result watchResult
		if err := r.call(p, methodWatch, api.PeerWatchParams{Kinds: kinds}, &result); err != nil {
			return err
		}
		r.mu.Lock()
		s := &p.live
		s.sub, s.kinds, s.n = result.Sub, kinds, 0
		if s.earlySub == result.Sub {
			s.n = s.early
		}
		s.received = r.clock.Boot()
		if s.silence == nil {
			r.listenLocked(p, r.timing.Silence)
		}
		r.mu.Unlock()
		r.takeLive(p.node, result.Docs)
	}
	r.mu.Lock()
	ended := slices.Clone(p.live.ended)
	r.mu.Unlock()
	for _, old := range ended {
		if err := r.call(p, methodUnwatch, api.PeerUnwatch{Sub: old}, &api.Empty{}); err != nil {
			return err
		}
		r.mu.Lock()
		p.live.ended = slices.DeleteFunc(p.live.ended, func(s api.Subscription) bool { return s == old })
		r.mu.Unlock()
	}
	return nil
}

// listenLocked makes the subscription anew after a silence: that the other side lost it
// with a connection is announced by nothing.
func (r *Replica) listenLocked(p *peer, after time.Duration) {
	p.live.silence = r.clock.AfterFunc(after, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		s := &p.live
		s.silence = nil
		if p.isGone() || s.sub == "" {
			return
		}
		left := s.received + r.timing.Silence - r.clock.Boot()
		if left <= 0 {
			s.isBroken = true
			left = r.timing.Silence
			r.interest.Wake()
		}
		r.listenLocked(p, left)
	})
}

// stateChanged is api.StateChanged with documents as bytes.
type stateChanged struct {
	Sub    api.Subscription  `json:"sub"`
	N      uint64            `json:"n,omitempty"`
	Put    []json.RawMessage `json:"put,omitempty"`
	Lagged bool              `json:"lagged,omitempty"`
}

// handleChanged takes what a subscription brings.
func (r *Replica) handleChanged(from api.NodeID, params json.RawMessage) {
	var in stateChanged
	if err := decode(params, &in); err != nil {
		r.complaints(from).Warn("a notification cannot be read", "error", err)
		return
	}
	if !r.roster().IsMember(from) {
		return
	}
	r.mu.Lock()
	p := r.peers[from]
	if p == nil {
		r.mu.Unlock()
		return
	}
	s := &p.live
	s.received = r.clock.Boot()
	switch {
	case slices.Contains(s.ended, in.Sub):
	case in.Sub != s.sub && !s.isWorking:
		// The answer that named it was lost, and the other side works for nobody.
		if len(s.ended) < maxServices && in.Sub != "" {
			s.ended = append(s.ended, in.Sub)
			r.interest.Wake()
		}
	case in.Sub != s.sub:
		s.earlySub, s.early = in.Sub, in.N
	case in.Lagged || in.N != s.n+1:
		s.isBroken = true
		r.interest.Wake()
	default:
		s.n = in.N
	}
	r.mu.Unlock()
	r.takeLive(from, in.Put)
}

// takeLive takes documents of live kinds from their writer.
func (r *Replica) takeLive(from api.NodeID, raws []json.RawMessage) {
	n := r.take(from, raws)
	r.passOn(from, n.taken, nil, true) // of other kinds: somebody brings what was not asked for
}
