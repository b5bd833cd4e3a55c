package job

import (
	"fulmen/daemon/api"
	"fulmen/daemon/internal/job/links"
	"fulmen/daemon/internal/job/phase"
	"fulmen/daemon/internal/ledger"
)

// noted is what an attempt's ranks talked over when it began.
type noted struct {
	epoch   uint64
	attempt int
	links   links.State
}

// LinksChanged says that cables, addresses or the states of nodes may not be what
// they were. It may be called as often as that happens, and returns at once.
func (j *Jobs) LinksChanged() {
	for _, a := range j.actors() {
		if s := a.shown.Load(); s.role == phase.RoleHome && s.try > 0 {
			a.post(a.inspect)
		}
	}
}

// facts reads what a plan is compared with: documents and the graph as they are now.
func (j *Jobs) facts() links.Facts {
	return links.Facts{Cables: j.cfg.Cables(), Name: j.name, Network: func(n api.NodeID) *api.Network {
		network, ok := ledger.Read[api.Network](j.cfg.Ledger, api.Key{Node: n, Kind: api.KindNetwork})
		if !ok {
			return nil
		}
		return &network
	}, Device: func(e api.LinkEnd) *api.RDMADevice {
		rdma, ok := ledger.Read[api.RDMA](j.cfg.Ledger, api.Key{Node: e.Node, Kind: api.KindRDMA, Name: e.PortNumber.String()})
		if !ok {
			return nil
		}
		return rdma.Device
	}}
}

// noteLinks notes what the ranks of a new attempt talk over, and looks at once
// whether it is still what was planned with.
func (a *actor) noteLinks() {
	at := a.state.Job.OpenAttempt()
	if a.state.Role != phase.RoleHome || at == nil || at.Plan == nil {
		a.noted = nil
		return
	}
	if n := a.noted; n != nil && n.epoch == a.state.Job.Epoch && n.attempt == at.Attempt {
		return
	}
	a.noted = &noted{epoch: a.state.Job.Epoch, attempt: at.Attempt}
	if len(at.Plan.Ranks) < 2 {
		return // it talks to nobody
	}
	now, isNew := a.j.facts(), a.state.Job.Phase == api.JobPlacing
	a.noted.links = links.Begin(*at.Plan, now, isNew)
	if c := a.noted.links.Broken(*at.Plan, now); isNew && c != nil {
		a.notify(lost(at.Attempt, c))
	}
}

// lost is the event for something that is gone.
func lost(attempt int, c *api.Cause) phase.LinkLost {
	return phase.LinkLost{Attempt: attempt, Cause: phase.Cause{Reason: c.Reason, Message: c.Message}}
}

// inspect has a home look whether its ranks can still talk, and whether their nodes
// stay, and tells the phase machine what is not as it was.
func (a *actor) inspect() {
	at := a.state.Job.OpenAttempt()
	if a.noted == nil || at == nil || at.Plan == nil || at.Attempt != a.noted.attempt {
		return
	}
	if len(at.Plan.Ranks) > 1 {
		now := a.j.facts()
		if c := a.noted.links.Broken(*at.Plan, now); c != nil {
			a.event(lost(at.Attempt, c))
		} else {
			a.noted.links.Learn(*at.Plan, now)
		}
	}
	for _, r := range at.Plan.Ranks {
		if a.state.Role != phase.RoleHome {
			return
		}
		if why := a.j.leaving(r.Node); why.Reason != "" {
			a.event(phase.NodeLost{Node: r.Node, Cause: why, Since: a.j.now()})
		}
	}
}

// leaving is why a node is about to go away with what runs on it; no reason where
// it stays. A daemon that ends leaves its ranks running.
func (j *Jobs) leaving(n api.NodeID) phase.Cause {
	state, ok := ledger.Read[api.NodeState](j.cfg.Ledger, api.Key{Node: n, Kind: api.KindNodeState})
	if !ok {
		return phase.Cause{}
	}
	because := func(reason api.Reason, words string) phase.Cause {
		return phase.Cause{Reason: reason, Message: j.name(n) + ": " + words + ".", WaitingFor: j.name(n)}
	}
	switch {
	case state.State == api.SelfAsleep && state.Reason == api.ReasonLidClosed:
		return because(api.ReasonNodeAsleep, "lid closed")
	case state.State == api.SelfAsleep:
		return because(api.ReasonNodeAsleep, "it goes to sleep")
	case state.State == api.SelfRestarting && state.Reason == api.ReasonShuttingDown:
		return because(api.ReasonShuttingDown, "it is switched off")
	case state.State == api.SelfRestarting:
		return because(api.ReasonRestarting, "it restarts")
	}
	return phase.Cause{}
}
