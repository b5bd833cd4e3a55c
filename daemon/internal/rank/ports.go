package rank

import (
	"math"
	"net/netip"
	"slices"
	"time"

	"fulmen/daemon/api"
)

// SetPorts says on which of its published ports a rank's program listens now, in
// ascending order. Of a rank that has ended it is not noted.
func (r *Ranks) SetPorts(ref api.RankRef, ports []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.held[ref]
	if h == nil || h.Doc.Phase.Ended() || slices.Equal(h.Doc.Ports, ports) {
		return
	}
	h.Doc.Ports = slices.Clone(ports)
	r.say(ref)
}

// TakePort takes an address out of the node's table of ports, unless somebody has
// it or has had it lately.
func (r *Ranks) TakePort(a netip.AddrPort) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if until, known := r.ports[a]; known && until > r.cfg.Clock.Boot() {
		return false
	}
	r.ports[a] = forGood
	return true
}

// ReturnPort gives it back.
func (r *Ranks) ReturnPort(a netip.AddrPort) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ports[a] = r.cfg.Clock.Boot() + portRest
}

// forGood is a time that does not come.
const forGood = time.Duration(math.MaxInt64)

// Receptacles are those whose RDMA device a rank of this node was granted, also of
// one that has ended.
func (r *Ranks) Receptacles(ref api.RankRef) []api.Receptacle {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.held[ref]; h != nil {
		return slices.Clone(h.Plan.Receptacles)
	}
	return nil
}

// PID is the process id of a rank's program, which is its process group too; 0
// where none runs here.
func (r *Ranks) PID(ref api.RankRef) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.held[ref]; h != nil && !h.Doc.Phase.Ended() {
		return h.Doc.PID
	}
	return 0
}

// IsHere reports whether a rank lives on this node.
func (r *Ranks) IsHere(ref api.RankRef) bool {
	_, _, _, isHere := r.Folder(ref)
	return isHere
}

// LiveRefs lists the ranks that have not ended.
func (r *Ranks) LiveRefs() []api.RankRef {
	var all []api.RankRef
	for _, live := range r.Live() {
		all = append(all, live.Rank)
	}
	return all
}

// Shim is where the shim of a rank that has not ended listens, and the epoch that it
// answers to.
func (r *Ranks) Shim(ref api.RankRef) (socket string, epoch uint64, runs bool) {
	_, socket, _, isHere := r.Folder(ref)
	if !isHere {
		return "", 0, false
	}
	for _, live := range r.Live() {
		if live.Rank == ref {
			return socket, live.Epoch, true
		}
	}
	return "", 0, false
}
