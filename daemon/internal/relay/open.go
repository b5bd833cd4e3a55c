package relay

import (
	"cmp"
	"net"
	"net/netip"
	"slices"
	"sync"

	"fulmen/daemon/api"
)

// published is a job of which ports are open on this node.
type published struct {
	relay *Relay
	job   api.JobID
	ports []api.Publish
	key   string // where a port is open on the network
	conns conns
	// strangers are connections from the network that have not shown the key yet.
	strangers conns

	mu        sync.Mutex
	rank      api.RankRef
	node      api.NodeID
	listeners map[netip.AddrPort]net.Listener
}

// Port is a published port that is open on this node.
type Port struct {
	// Job is whose it is.
	Job api.JobID
	// Port is its number.
	Port int
	// LAN says that it is open on the network, behind the job's key.
	LAN bool
	// Addresses are where it is open. On rank 0's own node the program's loopback
	// needs no relay, and there are none.
	Addresses []netip.AddrPort
}

// Open opens the ports that a spec publishes and leads them to rank 0, which lives
// on a node. Called again for a later attempt, it leads them to that one's. On an
// error (port_taken, with the port) nothing is open.
func (r *Relay) Open(spec api.JobSpec, rank0 api.RankRef, node api.NodeID) error {
	if len(spec.Publish) == 0 {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return api.NewError(api.ReasonCancelled, string(spec.Job))
	}
	p := r.open[spec.Job]
	if p == nil {
		p = &published{relay: r, job: spec.Job, ports: slices.Clone(spec.Publish), listeners: map[netip.AddrPort]net.Listener{}}
		if slices.ContainsFunc(p.ports, func(x api.Publish) bool { return x.LAN }) {
			p.key = r.key(spec.Job)
		}
	}
	if err := p.lead(rank0, node); err != nil {
		delete(r.open, spec.Job)
		p.shut()
		return err
	}
	r.open[spec.Job] = p
	return nil
}

// Close closes a job's ports and ends its connections.
func (r *Relay) Close(job api.JobID) {
	r.mu.Lock()
	p := r.open[job]
	delete(r.open, job)
	r.mu.Unlock()
	if p != nil {
		p.shut()
	}
}

// NetworksChanged opens the ports that are open on the network on its new
// addresses, and no longer on those that are gone.
func (r *Relay) NetworksChanged() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for job, p := range r.open {
		p.mu.Lock()
		rank, node := p.rank, p.node
		p.mu.Unlock()
		if err := p.lead(rank, node); err != nil {
			r.cfg.Log.Warn("a published port is not open on a new address", "job", job, "err", err)
		}
	}
}

// List gives the ports that are open here, ordered by job and port.
func (r *Relay) List() []Port {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Port
	for _, p := range r.open {
		p.mu.Lock()
		for _, x := range p.ports {
			port := Port{Job: p.job, Port: x.Port, LAN: x.LAN}
			for at := range p.listeners {
				if int(at.Port()) == x.Port {
					port.Addresses = append(port.Addresses, at)
				}
			}
			slices.SortFunc(port.Addresses, netip.AddrPort.Compare)
			out = append(out, port)
		}
		p.mu.Unlock()
	}
	slices.SortFunc(out, func(a, b Port) int { return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Port, b.Port)) })
	return out
}

// lead makes the ports lead to a rank and listens where it should.
func (p *published) lead(rank api.RankRef, node api.NodeID) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rank, p.node = rank, node
	want := map[netip.AddrPort]bool{}
	for _, x := range p.ports {
		if !x.LAN && node == p.relay.cfg.Peers.Self() {
			continue // the program itself listens on this loopback
		}
		for _, a := range p.relay.addresses(x) {
			want[netip.AddrPortFrom(a, uint16(x.Port))] = x.LAN
		}
	}
	for at, l := range p.listeners {
		if _, wanted := want[at]; !wanted {
			l.Close()
			delete(p.listeners, at)
		}
	}
	var problems []error
	for at, lan := range want {
		if p.listeners[at] != nil {
			continue
		}
		switch l, err := listen(at); {
		case err != nil:
			problems = append(problems, err)
		case l != nil:
			p.listeners[at] = l
			go p.accept(l, int(at.Port()), lan)
		}
	}
	if len(problems) > 0 {
		return problems[0]
	}
	return nil
}

// target is where connections lead now.
func (p *published) target() (api.RankRef, api.NodeID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rank, p.node
}

// shut closes all of it.
func (p *published) shut() {
	p.mu.Lock()
	for at, l := range p.listeners {
		l.Close()
		delete(p.listeners, at)
	}
	p.mu.Unlock()
	p.strangers.shut()
	p.conns.shut()
}
