package rank

import (
	"net/netip"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/shimproto"
)

// Channels carries JACCL's side channels, over which ranks exchange what they need
// before RDMA can begin.
type Channels interface {
	// Open gives the address at which the program of a rank finds its side channel, and
	// carries it from then on, within a time. The epoch is that of the job's home, and
	// the nodes are those of the attempt's ranks, by rank. How far it comes is told by
	// [Ranks.SetHandshake], what ends it by [Ranks.Fail].
	Open(rank api.RankRef, epoch uint64, nodes []api.NodeID, within time.Duration) (coordinator netip.AddrPort, err error)
	// Settle gives how far a rank has come whose program has ended, which may not have
	// been told yet; false where it has no channel.
	Settle(rank api.RankRef) (api.Handshake, bool)
	// Close ends it; one that is not open stays so.
	Close(rank api.RankRef)
}

// joins reports whether the ranks of a plan have a handshake that can be watched.
func joins(plan api.Plan) bool { return plan.Backend.RDMA() && len(plan.Ranks) > 1 }

// joining reports whether a rank has yet to join its group.
func joining(doc *api.Rank) bool {
	return doc.Handshake != nil && doc.Handshake.State != api.HandshakeJoined
}

// SetHandshake says how far a rank has come in joining its group. One that has
// joined stays so, and of one that has ended nothing is noted.
func (r *Ranks) SetHandshake(ref api.RankRef, now api.Handshake) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.held[ref]
	if h == nil || h.Doc.Phase.Ended() || !joining(&h.Doc) {
		return
	}
	h.Doc.Handshake = &now // never changed in place: published copies share it
	if now.State == api.HandshakeJoined && h.Doc.Phase == api.RankHandshake {
		r.enterLocked(h, api.RankRunning, "", "")
	}
	if now.State == api.HandshakeJoined {
		h.unsaved = true
		h.wake.Wake()
	}
	r.reportLocked(ref)
}

// settle takes what of a rank's handshake was not told before its program's end.
func (r *Ranks) settle(h *held) {
	r.mu.Lock()
	open := joining(&h.Doc) && !h.Doc.Phase.Ended()
	r.mu.Unlock()
	if !open {
		return
	}
	if now, known := r.cfg.Channels.Settle(h.ref()); known {
		r.SetHandshake(h.ref(), now)
	}
}

// Fail ends a rank of this node for a reason that was found outside of its
// program. The first reason stays.
func (r *Ranks) Fail(ref api.RankRef, why *api.Error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.held[ref]; h != nil && h.order == nil {
		r.endOneLocked(h, shimproto.Cause{Reason: string(why.Data.Reason), Message: why.Message}, r.cfg.Times(api.JobSpec{}).FailedGrace)
	}
}

// openChannel opens the side channel of a rank whose plan has one.
func (r *Ranks) openChannel(w wanted) (coordinator netip.AddrPort, err error) {
	nodes := make([]api.NodeID, len(w.Plan.Ranks))
	for i, planned := range w.Plan.Ranks {
		nodes[i] = planned.Node
	}
	times := r.cfg.Times(w.spec)
	return r.cfg.Channels.Open(w.Rank, w.Epoch, nodes, times.Starting+times.Handshake)
}

// interrupt ends a rank whose side channel went with the daemon before.
func (r *Ranks) interrupt(h *held) {
	r.mu.Lock()
	h.interrupted = joining(&h.Doc)
	r.mu.Unlock()
	if h.interrupted {
		r.Fail(h.ref(), interruption(h))
	}
}

// interruption is why such a rank ended, also where its program has noticed first.
func interruption(h *held) *api.Error {
	return restarted(h, "The daemon that carried the side channel of rank %d was restarted before the rank had joined its group.")
}
