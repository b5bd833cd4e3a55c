package daemon

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"net/netip"
	"slices"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/relay"
)

// published keeps the ports open that jobs publish: those of this node's people
// here, and those of the ranks of this node for whoever submitted their jobs.
type published struct {
	*relay.Relay
	daemon *daemon

	mu     sync.Mutex
	open   map[api.JobID]api.RankRef // rank 0, to which a job's ports lead now
	closed map[api.JobID]*api.Error  // why a job's ports are not open that should be
	serves map[api.RankRef]func()
}

// publishContext begins what the secret of the jobs' keys is derived from.
const publishContext = "fulmen-publish-1"

// openRelay makes what publishes ports.
func (d *daemon) openRelay() {
	p := &published{daemon: d, open: map[api.JobID]api.RankRef{}, closed: map[api.JobID]*api.Error{}, serves: map[api.RankRef]func(){}}
	secret := hmac.New(sha256.New, d.identity.Key().Seed())
	secret.Write([]byte(publishContext))
	p.Relay = relay.New(relay.Config{
		Peers: d.peers, Target: p.target, LAN: d.networks, Secret: secret.Sum(nil), Loopback: d.loopback(),
		Processes: d.platform.Processes, Clock: d.platform.Clock, Log: d.logs.part("relay"),
	})
	d.published = p
	d.onClose(func() error { p.Shut(); return nil })
}

// loopback is where ports are published for this machine.
func (d *daemon) loopback() []netip.Addr {
	if !d.platform.Simulated {
		return nil
	}
	return []netip.Addr{d.stand("loopback")}
}

// stand is an address that stands for one of a simulated Mac's. Simulated Macs are
// on one machine: the programs of their ranks have its loopback, and a port that
// is published there lies beside it.
func (d *daemon) stand(what string) netip.Addr {
	sum := sha256.Sum256([]byte(what + " " + string(d.identity.Node)))
	return netip.AddrFrom4([4]byte{127, sum[0], sum[1], min(max(sum[2], 2), 254)})
}

// networks are the addresses of this machine's networks.
func (d *daemon) networks() []netip.Addr {
	if d.platform.Simulated {
		return []netip.Addr{d.stand("network")}
	}
	var network api.Network
	d.own(api.KindNetwork, &network)
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

// check says why ports cannot be published here. One that another job of this
// node's people has is no matter: that one may end before this one begins, and a
// request that is repeated is the same job's.
func (p *published) check(ports []api.Publish) error {
	if len(ports) == 0 {
		return nil
	}
	taken := map[int]bool{}
	for _, record := range p.daemon.ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindJob}}) {
		spec, job, found := p.daemon.specOf(api.JobID(record.Key().Name))
		if found && !job.Phase.Ended() && spec.Principal.Node == p.daemon.identity.Node {
			for _, port := range spec.Publish {
				taken[port.Port] = true
			}
		}
	}
	return p.Check(slices.DeleteFunc(slices.Clone(ports), func(port api.Publish) bool { return taken[port.Port] }))
}

// target reports whether a port of a rank of this node is published.
func (p *published) target(job gate.Known, ref api.RankRef, port int) bool {
	_, _, _, isHere := p.daemon.ranks.Folder(ref)
	return isHere && ref.Rank == 0 && ref.Attempt == job.Job.Attempt &&
		slices.ContainsFunc(job.Spec.Publish, func(one api.Publish) bool { return one.Port == port })
}

// run follows the jobs until ctx ends.
func (p *published) run(ctx context.Context) error {
	return p.daemon.ledger.FollowEach(ctx, ledger.WatchOptions{
		Name: "relay", Filter: ledger.Filter{Kinds: []api.Kind{api.KindJob, api.KindNetwork}}, Passive: true,
	}, p.see)
}

func (p *published) see(change ledger.Change) {
	for _, record := range change.Put {
		switch key := record.Key(); {
		case key.Kind == api.KindJob:
			p.settle(api.JobID(key.Name))
		case key.Node == p.daemon.identity.Node:
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
func (p *published) settle(id api.JobID) {
	if job, found := p.daemon.jobOf(id); found && job.Principal.Node != p.daemon.identity.Node && !p.has(id) {
		return
	}
	spec, job, found := p.daemon.specOf(id)
	if found && (spec.Principal.Node != p.daemon.identity.Node || len(spec.Publish) == 0) {
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
			p.daemon.logs.part("relay").Warn("a job's ports could not be opened", "job", id, "error", err)
			p.closed[id] = api.AsError(err)
			delete(p.open, id) // those of an earlier attempt are closed with it
			return
		}
		p.open[id] = ref
		delete(p.closed, id)
	}
}

// has reports whether a job's ports are open here, or could not be opened.
func (p *published) has(id api.JobID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, isOpen := p.open[id]
	return isOpen || p.closed[id] != nil
}

// spawned follows the ports of a rank of this node that has just been started.
func (p *published) spawned(ref api.RankRef) {
	spec, _, found := p.daemon.specOf(ref.Job)
	if !found || ref.Rank != 0 || len(spec.Publish) == 0 {
		return
	}
	pid := p.daemon.ranks.PID(ref)
	if pid == 0 {
		return
	}
	var ports []int
	for _, one := range spec.Publish {
		ports = append(ports, one.Port)
	}
	stop := p.Serve(ref, pid, ports, func(open []int) { p.daemon.ranks.SetPorts(ref, open) })
	p.mu.Lock()
	defer p.mu.Unlock()
	if before := p.serves[ref]; before != nil {
		before()
	}
	p.serves[ref] = stop
}

// ended ends that.
func (p *published) ended(rank api.Rank) {
	ref := api.RankRef{Job: rank.Job, Attempt: rank.Attempt, Rank: rank.Rank}
	p.mu.Lock()
	stop := p.serves[ref]
	delete(p.serves, ref)
	p.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// of lists the ports of a job that are open on this node, with the key where one
// is open on the network, and those that cannot be opened, with the reason.
func (p *published) of(id api.JobID) []api.PublishedPort {
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
		spec, _, _ := p.daemon.specOf(id)
		for _, port := range spec.Publish {
			cause := problem.Cause()
			all = append(all, api.PublishedPort{Port: port.Port, LAN: port.LAN, Problem: &cause})
		}
	}
	return all
}
