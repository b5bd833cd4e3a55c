package relay

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"net"
	"net/netip"
	"slices"
	"strings"
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
	// unproven are connections from the network that have not shown the key yet.
	unproven conns

	mu        sync.Mutex
	rank      api.RankRef
	node      api.NodeID
	listeners map[netip.AddrPort]net.Listener
}

// openLocked opens the ports that a spec publishes and leads them to rank 0, which lives
// on a node. Called again for a later attempt, it leads them to that one's. On an
// error (port_taken, with the port) nothing is open.
func (r *Relay) openLocked(spec api.JobSpec, rank0 api.RankRef, node api.NodeID) error {
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

// closeLocked closes a job's ports and ends its connections.
func (r *Relay) closeLocked(job api.JobID) {
	if p := r.open[job]; p != nil {
		delete(r.open, job)
		p.shut()
	}
}

// networksChanged opens the ports that are open on the network on its new
// addresses, and no longer on those that are gone.
func (r *Relay) networksChanged() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for job, p := range r.open {
		if err := p.lead(p.target()); err != nil {
			r.cfg.Log.Warn("a published port is not open on a new address", "job", job, "err", err)
		}
	}
}

// listLocked gives the ports of a job that are open here, in their order, with the key where one
// is open on the network. On rank 0's own node the program's loopback needs no relay: such
// a port has no addresses.
func (r *Relay) listLocked(job api.JobID) (out []api.PublishedPort) {
	p := r.open[job]
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.ports {
		port := api.PublishedPort{Port: x.Port, LAN: x.LAN}
		if x.LAN {
			port.Key = p.key
		}
		for at := range p.listeners {
			if int(at.Port()) == x.Port {
				port.Addresses = append(port.Addresses, at)
			}
		}
		slices.SortFunc(port.Addresses, netip.AddrPort.Compare)
		out = append(out, port)
	}
	slices.SortFunc(out, func(a, b api.PublishedPort) int { return a.Port - b.Port })
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
	p.unproven.shut()
	p.conns.shut()
}

// keyBytes is how much a key has of chance.
const keyBytes = 16

// key is what opens a job's ports on the network.
func (r *Relay) key(job api.JobID) string {
	mac := hmac.New(sha256.New, r.secret)
	mac.Write([]byte("fulmen-publish-1 " + string(job)))
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(mac.Sum(nil)[:keyBytes]))
}
