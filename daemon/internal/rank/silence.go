package rank

import (
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
)

// silentAfter is how long a rank's RDMA devices carry nothing before that is reported: a
// program that computes for a while does not have its document written again and again.
const silentAfter = time.Minute

// silence is what was seen of the devices of a rank with each renewal.
type silence struct {
	carried uint64
	at      api.Time // when that was first seen
	failed  bool     // a device has no count
}

// countLocked looks whether the RDMA devices of a rank have carried something since the
// renewal before.
func (r *Ranks) countLocked(h *held) {
	if r.cfg.Carried == nil || !joinedOverRDMA(h) {
		return
	}
	was, since := h.silence.failed, api.Time{}
	carried, counted := r.carriedBy(h.Plan.PortNumbers)
	now, failed := r.now(), counted < len(h.Plan.PortNumbers)
	if h.silence.at.IsZero() || carried != h.silence.carried {
		h.silence.carried, h.silence.at = carried, now
	}
	if h.silence.failed = failed; !failed && now.Sub(h.silence.at.Time) >= silentAfter {
		since = h.silence.at
	}
	if h.Doc.SilentSince != since || was != failed {
		h.Doc.SilentSince = since
		r.reportLocked(h.ref())
	}
}

// carriedBy is what the RDMA devices of some ports have carried, and of how many that is known.
func (r *Ranks) carriedBy(ports []api.PortNumber) (carried uint64, counted int) {
	if r.cfg.Carried == nil || len(ports) == 0 {
		return 0, 0
	}
	for _, rec := range r.cfg.Jobs.List(ledger.Filter{Kinds: []api.Kind{api.KindRDMA}, Nodes: []api.NodeID{r.cfg.Node}}) {
		var port api.RDMA
		if rec.Decode(&port) != nil || port.Device == nil || !slices.Contains(ports, port.PortNumber) {
			continue
		}
		if n, err := r.cfg.Carried(port.Device.Name); err == nil {
			carried += n
			counted++
		}
	}
	return carried, counted
}

// uncountedLocked says why it is not known whether a rank's devices carry something; nil
// where it is, or is not asked.
func (r *Ranks) uncountedLocked(h *held) map[string]api.Reason {
	const field = "silent_since"
	switch {
	case !joinedOverRDMA(h):
		return nil
	case r.cfg.Carried == nil:
		return map[string]api.Reason{field: api.ReasonNotSupportedByPlatform}
	case h.silence.failed:
		return map[string]api.Reason{field: api.ReasonNotSupportedByOS}
	}
	return nil
}

// joinedOverRDMA reports whether a rank is in its group, over RDMA.
func joinedOverRDMA(h *held) bool {
	return h.Doc.Phase == api.RankRunning && len(h.Plan.PortNumbers) > 0
}
