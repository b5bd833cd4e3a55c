package relay

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/ledger"
)

// networks are the addresses of this machine's networks.
func (r *Relay) networks() []netip.Addr {
	network, known := ledger.Read[api.Network](r.cfg.Ledger, api.Key{Node: r.cfg.Peers.Self(), Kind: api.KindNetwork})
	if !known {
		return nil
	}
	var all []netip.Addr
	for _, i := range network.Interfaces {
		if i.Type == api.InterfaceLoopback || !i.Up {
			continue
		}
		for _, a := range i.Addresses {
			all = append(all, a.Address.Addr())
		}
	}
	return all
}

// known is the spec of a job that counts, and its document.
func (r *Relay) known(id api.JobID) (api.JobSpec, api.Job, bool) {
	known, found := r.cfg.Job(id)
	return known.Spec, known.Job, found
}

// Allows says why ports cannot be published here. One that another job of this
// node's people has is no matter: that one may end before this one begins, and a
// request that is repeated is the same job's.
func (r *Relay) Allows(ports []api.Publish) error {
	if len(ports) == 0 {
		return nil
	}
	taken := map[int]bool{}
	for _, record := range r.cfg.Ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindJob}}) {
		spec, job, found := r.known(api.JobID(record.Key().Name))
		if found && !job.Phase.Ended() && spec.Principal.Node == r.cfg.Peers.Self() {
			for _, port := range spec.Publish {
				taken[port.Port] = true
			}
		}
	}
	return r.check(slices.DeleteFunc(slices.Clone(ports), func(port api.Publish) bool { return taken[port.Port] }))
}

// target reports whether a port of a rank of this node is published.
func (r *Relay) target(job gate.Known, ref api.RankRef, port int) bool {
	return r.cfg.Ranks.IsHere(ref) && ref.Rank == 0 && ref.Attempt == job.Job.Attempt &&
		slices.ContainsFunc(job.Spec.Publish, func(one api.Publish) bool { return one.Port == port })
}

// Run follows the jobs until ctx ends.
func (r *Relay) Run(ctx context.Context) error {
	return r.cfg.Ledger.FollowEach(ctx, ledger.WatchOptions{
		Name: "relay", Filter: ledger.Filter{Kinds: []api.Kind{api.KindJob, api.KindNetwork}}, Passive: true,
	}, r.see)
}

func (r *Relay) see(change ledger.Change) {
	for _, record := range change.Put {
		switch key := record.Key(); {
		case key.Kind == api.KindJob:
			r.settle(api.JobID(key.Name))
		case key.Node == r.cfg.Peers.Self():
			r.networksChanged()
		}
	}
	for _, key := range change.Del {
		if key.Kind == api.KindJob {
			r.settle(api.JobID(key.Name))
		}
	}
}

// settle opens or closes the ports of a job of this node's people.
func (r *Relay) settle(id api.JobID) {
	spec, job, found := r.known(id)
	self := r.cfg.Peers.Self()
	if found && (spec.Principal.Node != self || len(spec.Publish) == 0) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.open[id]
	if found && job.Principal.Node != self && p == nil && r.problems[id] == nil {
		return
	}
	isOn := found && (job.Phase == api.JobStarting || job.Phase == api.JobHandshake || job.Phase == api.JobRunning)
	ref := api.RankRef{Job: id, Attempt: job.Attempt}
	plan := (gate.Known{Job: job}).Plan()
	if !isOn || plan == nil || len(plan.Ranks) == 0 {
		delete(r.problems, id)
		r.closeLocked(id)
		return
	}
	if p != nil {
		if rank, _ := p.target(); rank == ref {
			return
		}
	}
	delete(r.problems, id)
	if err := r.openLocked(spec, ref, plan.Ranks[0].Node); err != nil {
		r.cfg.Log.Warn("a job's ports could not be opened", "job", id, "error", err)
		r.problems[id] = api.AsError(err)
	}
}

// knownEvery is how often it is looked whether the job of a rank is known.
const knownEvery = 500 * time.Millisecond

// Spawned follows the ports of a rank of this node that has just been started, or was found
// running by a daemon that has.
func (r *Relay) Spawned(ref api.RankRef) {
	if ref.Rank != 0 {
		return
	}
	pid := r.cfg.Ranks.PID(ref)
	spec, _, found := r.known(ref.Job)
	switch {
	case pid == 0:
		return
	case !found: // a daemon that was started again learns of a job later than of its ranks
		r.cfg.Clock.AfterFunc(knownEvery, func() { r.Spawned(ref) })
		return
	case len(spec.Publish) == 0 && spec.Probes == nil:
		return
	}
	var ports []int
	for _, one := range spec.Publish {
		ports = append(ports, one.Port)
	}
	s := r.serve(ref, pid, ports, func(open []int) { r.cfg.Ranks.SetPorts(ref, open) }, settleOf(spec), func(since api.Time) { r.cfg.Ranks.SetIdle(ref, since) })
	if s != nil && spec.Probes != nil {
		go (&prober{Relay: r, rank: ref, try: func(p api.Probe) error {
			if len(p.Command) > 0 {
				return r.cfg.Ranks.Probe(s.ctx, ref, p.Command, timeoutOf(p))
			}
			return s.probe(p)
		}}).run(s.ctx, *spec.Probes)
	}
}

// Ended ends that, and the connections to them.
func (r *Relay) Ended(rank api.Rank) {
	ref := api.RankRef{Job: rank.Job, Attempt: rank.Attempt, Rank: rank.Rank}
	r.mu.Lock()
	s := r.served[ref]
	delete(r.served, ref)
	r.mu.Unlock()
	if s != nil {
		s.shut()
	}
}

// Of lists the ports of a job that are open on this node, with the key where one
// is open on the network, and those that cannot be opened, with the reason.
func (r *Relay) Of(id api.JobID) []api.PublishedPort {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.listLocked(id)
	if problem := r.problems[id]; problem != nil {
		spec, _, _ := r.known(id)
		for _, port := range spec.Publish {
			cause := problem.Cause()
			all = append(all, api.PublishedPort{Port: port.Port, LAN: port.LAN, Problem: &cause})
		}
	}
	return all
}
