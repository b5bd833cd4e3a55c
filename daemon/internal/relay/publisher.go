package relay

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"log/slog"
	"net/netip"
	"slices"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/ledger"
)

// Ranks are those of this node; rank.Ranks is them.
type Ranks interface {
	// IsHere reports whether a rank lives on this node.
	IsHere(rank api.RankRef) bool
	// PID is the process of its program; 0 where it does not run.
	PID(rank api.RankRef) int
	// SetPorts says which of its published ports are open.
	SetPorts(rank api.RankRef, open []int)
}

// PublisherConfig is what a [Publisher] needs.
type PublisherConfig struct {
	// Config is the relay's. Target is the publisher's own, and where LAN is nil, it
	// gives the addresses of this node's network document.
	Config
	Ledger *ledger.Ledger
	// Job is what is known of a job that counts.
	Job   func(api.JobID) (gate.Known, bool)
	Ranks Ranks
	// Seed is this node's secret, of which the relay's is derived.
	Seed []byte
}

// Publisher keeps the ports open that jobs publish: those of this node's people here,
// and those of the ranks of this node for whoever submitted their jobs.
type Publisher struct {
	*Relay
	self   api.NodeID
	ledger *ledger.Ledger
	job    func(api.JobID) (gate.Known, bool)
	ranks  Ranks
	log    *slog.Logger

	mu     sync.Mutex
	open   map[api.JobID]api.RankRef // rank 0, to which a job's ports lead now
	closed map[api.JobID]*api.Error  // why a job's ports are not open that should be
	serves map[api.RankRef]func()
}

// publishContext begins what the secret of the jobs' keys is derived from.
const publishContext = "fulmen-publish-1"

// NewPublisher makes what publishes ports.
func NewPublisher(c PublisherConfig) *Publisher {
	p := &Publisher{
		self: c.Peers.Self(), ledger: c.Ledger, job: c.Job, ranks: c.Ranks, log: c.Log,
		open: map[api.JobID]api.RankRef{}, closed: map[api.JobID]*api.Error{}, serves: map[api.RankRef]func(){},
	}
	secret := hmac.New(sha256.New, c.Seed)
	secret.Write([]byte(publishContext))
	c.Secret, c.Target = secret.Sum(nil), p.target
	if c.LAN == nil {
		c.LAN = p.networks
	}
	p.Relay = New(c.Config)
	return p
}

// networks are the addresses of this machine's networks.
func (p *Publisher) networks() []netip.Addr {
	network, known := ledger.Read[api.Network](p.ledger, api.Key{Node: p.self, Kind: api.KindNetwork})
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
func (p *Publisher) known(id api.JobID) (api.JobSpec, api.Job, bool) {
	known, found := p.job(id)
	return known.Spec, known.Job, found
}

// Allows says why ports cannot be published here. One that another job of this
// node's people has is no matter: that one may end before this one begins, and a
// request that is repeated is the same job's.
func (p *Publisher) Allows(ports []api.Publish) error {
	if len(ports) == 0 {
		return nil
	}
	taken := map[int]bool{}
	for _, record := range p.ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindJob}}) {
		spec, job, found := p.known(api.JobID(record.Key().Name))
		if found && !job.Phase.Ended() && spec.Principal.Node == p.self {
			for _, port := range spec.Publish {
				taken[port.Port] = true
			}
		}
	}
	return p.Check(slices.DeleteFunc(slices.Clone(ports), func(port api.Publish) bool { return taken[port.Port] }))
}

// target reports whether a port of a rank of this node is published.
func (p *Publisher) target(job gate.Known, ref api.RankRef, port int) bool {
	return p.ranks.IsHere(ref) && ref.Rank == 0 && ref.Attempt == job.Job.Attempt &&
		slices.ContainsFunc(job.Spec.Publish, func(one api.Publish) bool { return one.Port == port })
}

// Run follows the jobs until ctx ends.
func (p *Publisher) Run(ctx context.Context) error {
	return p.ledger.FollowEach(ctx, ledger.WatchOptions{
		Name: "relay", Filter: ledger.Filter{Kinds: []api.Kind{api.KindJob, api.KindNetwork}}, Passive: true,
	}, p.see)
}

func (p *Publisher) see(change ledger.Change) {
	for _, record := range change.Put {
		switch key := record.Key(); {
		case key.Kind == api.KindJob:
			p.settle(api.JobID(key.Name))
		case key.Node == p.self:
			p.NetworksChanged()
		}
	}
	for _, key := range change.Del {
		if key.Kind == api.KindJob {
			p.settle(api.JobID(key.Name))
		}
	}
}

// settle opens or closes the ports of a job of this node's people.
func (p *Publisher) settle(id api.JobID) {
	spec, job, found := p.known(id)
	if found && job.Principal.Node != p.self && !p.has(id) {
		return
	}
	if found && (spec.Principal.Node != p.self || len(spec.Publish) == 0) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	isOn := found && (job.Phase == api.JobStarting || job.Phase == api.JobHandshake || job.Phase == api.JobRunning)
	ref := api.RankRef{Job: id, Attempt: job.Attempt}
	was, isOpen := p.open[id]
	switch plan := (gate.Known{Job: job}).Plan(); {
	case !isOn || plan == nil || len(plan.Ranks) == 0:
		delete(p.closed, id)
		if isOpen {
			delete(p.open, id)
			p.Close(id)
		}
	case was != ref:
		if err := p.Open(spec, ref, plan.Ranks[0].Node); err != nil {
			p.log.Warn("a job's ports could not be opened", "job", id, "error", err)
			p.closed[id] = api.AsError(err)
			delete(p.open, id) // those of an earlier attempt are closed with it
			return
		}
		p.open[id] = ref
		delete(p.closed, id)
	}
}

// has reports whether a job's ports are open here, or could not be opened.
func (p *Publisher) has(id api.JobID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, isOpen := p.open[id]
	return isOpen || p.closed[id] != nil
}

// Spawned follows the ports of a rank of this node that has just been started.
func (p *Publisher) Spawned(ref api.RankRef) {
	spec, _, found := p.known(ref.Job)
	if !found || ref.Rank != 0 || len(spec.Publish) == 0 {
		return
	}
	pid := p.ranks.PID(ref)
	if pid == 0 {
		return
	}
	var ports []int
	for _, one := range spec.Publish {
		ports = append(ports, one.Port)
	}
	stop := p.Serve(ref, pid, ports, func(open []int) { p.ranks.SetPorts(ref, open) })
	p.mu.Lock()
	defer p.mu.Unlock()
	p.serves[ref] = stop // Serve has ended what was served of the rank before
}

// Ended ends that.
func (p *Publisher) Ended(rank api.Rank) {
	ref := api.RankRef{Job: rank.Job, Attempt: rank.Attempt, Rank: rank.Rank}
	p.mu.Lock()
	stop := p.serves[ref]
	delete(p.serves, ref)
	p.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// Of lists the ports of a job that are open on this node, with the key where one
// is open on the network, and those that cannot be opened, with the reason.
func (p *Publisher) Of(id api.JobID) []api.PublishedPort {
	var all []api.PublishedPort
	for _, port := range p.List() {
		if port.Job != id {
			continue
		}
		one := api.PublishedPort{Port: port.Port, LAN: port.LAN, Addresses: port.Addresses}
		if port.LAN {
			one.Key, _ = p.Key(id)
		}
		all = append(all, one)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if problem := p.closed[id]; problem != nil {
		spec, _, _ := p.known(id)
		for _, port := range spec.Publish {
			cause := problem.Cause()
			all = append(all, api.PublishedPort{Port: port.Port, LAN: port.LAN, Problem: &cause})
		}
	}
	return all
}
