package job

import (
	"context"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/job/phase"
)

// holding is which members were asked to hold the document of an attempt.
type holding struct {
	epoch   uint64
	attempt int
	asked   map[api.NodeID]bool
}

// hold asks every member in sight to hold the document, once it has an attempt
// that is about to start: whoever takes the job over must learn of it.
func (a *actor) hold() {
	at := a.state.Job.OpenAttempt()
	if a.failure != nil || a.state.Role != phase.RoleHome || a.state.Job.Phase != api.JobPlacing || at == nil {
		return
	}
	if h := a.holding; h.epoch != a.state.Job.Epoch || h.attempt != at.Attempt {
		a.holding = holding{a.state.Job.Epoch, at.Attempt, map[api.NodeID]bool{}}
	}
	record, ok := a.j.cfg.Ledger.Get(a.j.key(a.id))
	if !ok {
		return
	}
	for _, n := range a.j.presence().Reached {
		if n != a.j.cfg.Node && !a.holding.asked[n] {
			a.holding.asked[n] = true
			a.askHold(n, a.holding, record.Document())
		}
	}
}

func (a *actor) askHold(node api.NodeID, h holding, doc api.Document) {
	a.async(func() func() {
		var result api.PeerHoldResult
		err := a.j.call(a.j.ctx, node, "peer.hold", api.PeerHoldParams{Doc: doc}, &result, callWithin, "to hold the job "+a.id.String())
		if err != nil {
			a.later(retryHold, func() { delete(h.asked, node) })
			return nil
		}
		var seen []phase.Event
		for _, d := range result.Others {
			if job, ok := a.j.foreign(a.id, d); ok {
				seen = append(seen, phase.Seen{Job: job})
			}
		}
		return a.events(append(seen, phase.Held{Attempt: h.attempt, Epoch: h.epoch, Nodes: []api.NodeID{node}})...)
	})
}

// foreign takes over a job document that another node brought; false where it is
// not one of the job, or not by a home.
func (j *Jobs) foreign(id api.JobID, d api.Document) (api.Job, bool) {
	if d.Kind != api.KindJob || d.Name != id.String() || d.Deleted {
		return api.Job{}, false
	}
	if d.Node != j.cfg.Node {
		if _, err := j.cfg.Ledger.PutForeign(d); err != nil {
			j.cfg.Log.Info("a job's document was not taken over", "job", id, "node", d.Node, "error", err)
		}
		// What counts is what is held now, which may be newer.
		record, ok := j.cfg.Ledger.Get(d.Key())
		if !ok {
			return api.Job{}, false
		}
		j.absorb(record)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if k := j.jobs[id]; k != nil {
		h, ok := k.docs[d.Node]
		return h.job, ok && d.Node != j.cfg.Node
	}
	return api.Job{}, false
}

// handleHold answers peer.hold. The document is on disk and in the job's queue
// before this node looks what else it holds: of two homes that ask it one after
// the other the second learns of the first.
func (j *Jobs) handleHold(_ context.Context, caller gate.Member, p api.PeerHoldParams) (any, error) {
	from := caller.Node()
	id, err := api.ParseJobID(p.Doc.Name)
	if err != nil || id.String() != p.Doc.Name || p.Doc.Kind != api.KindJob || p.Doc.Node != from {
		return nil, api.Errorf(api.ReasonBadValue, "doc", "The document is not a job's by the calling node.")
	}
	j.foreign(id, p.Doc)
	if err := j.cfg.Settle(); err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	k := j.jobs[id]
	switch {
	case k != nil && k.gone:
		return nil, api.NewError(api.ReasonJobDeleted, id.String())
	case k == nil:
		return nil, api.NewError(api.ReasonHomeNotProven, id.String())
	}
	if _, isBound := k.docs[from]; !isBound && from != j.cfg.Node {
		if _, isHeld := k.acts[from]; !isHeld { // a home by a person's word is known of, and not followed
			return nil, api.NewError(api.ReasonHomeNotProven, id.String())
		}
	}
	result := api.PeerHoldResult{}
	for _, n := range writers(k) {
		if n != from {
			result.Others = append(result.Others, k.docs[n].record.Document())
		}
	}
	return result, nil
}

// knows lists the nodes that have something of a job: homes, nodes of attempts
// and the submitter's.
func knows(k *known) []api.NodeID {
	nodes := []api.NodeID{k.spec.Principal.Node}
	for n, h := range k.docs {
		nodes = append(nodes, n)
		for _, at := range h.job.Attempts {
			if at.Plan != nil {
				for _, r := range at.Plan.Ranks {
					nodes = append(nodes, r.Node)
				}
			}
		}
	}
	for key := range k.ranks {
		nodes = append(nodes, key.Node)
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}
