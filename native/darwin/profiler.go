package darwin

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"fulmen/native"
)

// profilerSettles is how long the registry must have left something open before
// system_profiler is asked: while a cable is plugged in, its entries come one by one.
const profilerSettles = time.Second

// profiler asks system_profiler for the computers and services that the registry does
// not tell. It is asked once after an event, and never where the registry tells all.
type profiler struct {
	// ask runs it; nil where there is none.
	ask      func(context.Context) (native.Thunderbolt, error)
	clock    native.Clock
	reported func() // is called when there is an answer

	running sync.Mutex // held while it is asked
	ctx     context.Context
	end     context.CancelFunc

	mu sync.Mutex
	// event counts the events, the machine's opening among them; asked is the one
	// after which the answer was asked for.
	event, asked uint64
	timer        native.Timer
	answered     bool
	answer       native.Thunderbolt
	err          error
}

func newProfiler(ask func(context.Context) (native.Thunderbolt, error), clock native.Clock, reported func()) *profiler {
	p := &profiler{ask: ask, clock: clock, reported: reported, event: 1}
	p.ctx, p.end = context.WithCancel(context.Background())
	return p
}

// announced notes an event: what was answered before is not so any more for certain.
func (p *profiler) announced(areas []native.Area) {
	if !slices.Contains(areas, native.AreaThunderbolt) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.event++
	p.answered = false
}

// complete fills in what the registry leaves open, as far as there is an answer, and
// has it asked for where there is none yet.
func (p *profiler) complete(facts *native.Thunderbolt) {
	if p.ask == nil {
		return
	}
	open := slices.ContainsFunc(facts.Ports, isOpen)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !open && p.timer != nil:
		p.timer.Stop()
		p.timer = nil
	case open && p.answered:
		for i := range facts.Ports {
			completePort(&facts.Ports[i], p.answer, p.err)
		}
	case open && p.asked != p.event && p.timer == nil && p.ctx.Err() == nil:
		p.timer = p.clock.AfterFunc(profilerSettles, p.run)
	}
}

func (p *profiler) run() {
	p.running.Lock()
	defer p.running.Unlock()
	p.mu.Lock()
	asked := p.event
	p.timer, p.asked = nil, asked
	p.mu.Unlock()
	if p.ctx.Err() != nil {
		return
	}
	answer, err := p.ask(p.ctx)
	p.mu.Lock()
	p.answer, p.err, p.answered = answer, err, asked == p.event
	p.mu.Unlock()
	if p.ctx.Err() == nil {
		p.reported() // also when an event has come since: what is read then asks again
	}
}

// close ends what runs; nothing is asked any more.
func (p *profiler) close() {
	p.end()
	p.mu.Lock()
	if p.timer != nil {
		p.timer.Stop()
	}
	p.mu.Unlock()
	p.running.Lock()
	defer p.running.Unlock()
}

// isOpen reports whether the computers at a port, or their services, are not told.
func isOpen(p native.Port) bool {
	return p.Peers == nil || slices.ContainsFunc(p.Peers, func(peer native.Peer) bool { return peer.Services == nil })
}

// completePort takes over what another source says of a port, where it does not
// contradict the registry.
func completePort(p *native.Port, answer native.Thunderbolt, err error) {
	if !isOpen(*p) {
		return
	}
	other, there := answer.Port(p.PortNumber)
	switch {
	case err != nil:
		remark(p, "system_profiler: "+err.Error())
	case !there, other.Peers == nil:
		remark(p, "system_profiler does not report it either")
	case p.DomainUUID != "" && other.DomainUUID != "" && !strings.EqualFold(p.DomainUUID, other.DomainUUID):
		remark(p, "system_profiler reports a different domain at this port")
	case p.Peers != nil:
		for i := range p.Peers {
			completeServices(&p.Peers[i], other.Peers)
		}
	default:
		completePeers(p, other)
	}
}

// remark adds to the reasons of what stays unknown.
func remark(p *native.Port, text string) {
	add := func(unknown native.Reasons, field string) {
		if why := unknown[field]; why != "" {
			unknown[field] = why.With(why.Detail() + "; " + text)
		}
	}
	add(p.Unknown, "status")
	add(p.Unknown, "peers")
	for i := range p.Peers {
		add(p.Peers[i].Unknown, "services")
	}
}

// known takes a field's reason away.
func known(unknown *native.Reasons, field string) {
	if delete(*unknown, field); len(*unknown) == 0 {
		*unknown = nil
	}
}

func completeServices(peer *native.Peer, others []native.Peer) {
	i := slices.IndexFunc(others, func(o native.Peer) bool {
		return o.DomainUUID != "" && strings.EqualFold(o.DomainUUID, peer.DomainUUID)
	})
	if peer.Services != nil || i < 0 || len(others[i].Services) == 0 {
		return
	}
	peer.Services = slices.Clone(others[i].Services)
	known(&peer.Unknown, "services")
}

func completePeers(p *native.Port, other native.Port) {
	hubsReported := !slices.ContainsFunc(other.Peers, func(peer native.Peer) bool {
		return peer.Hub != "" && !slices.ContainsFunc(p.Hubs, func(h native.Hub) bool { return h.Route == peer.Hub })
	})
	if other.Status == "" || p.Status != "" && p.Status != other.Status || !hubsReported {
		why := native.ReasonSourcesDisagree.With("system_profiler and the registry disagree about what is connected to this port")
		p.Status = ""
		p.Unknown.Add("status", why)
		p.Unknown.Add("peers", why)
		return
	}
	p.Status, p.Peers = other.Status, slices.Clone(other.Peers)
	known(&p.Unknown, "status")
	known(&p.Unknown, "peers")
	for i := range p.Peers {
		peer := &p.Peers[i]
		peer.Unknown = peer.Unknown.Clone()
		if peer.Hub == "" && p.Negotiated != nil {
			peer.Negotiated = p.Negotiated // the cable is the port's
			known(&peer.Unknown, "negotiated")
		}
		if peer.Negotiated == nil && peer.Unknown["negotiated"] == "" {
			peer.Unknown.Add("negotiated", cmp.Or(p.Unknown["negotiated"], native.ReasonNotYetRead))
		}
		if len(peer.Services) == 0 && peer.Services != nil {
			peer.Services = nil
			peer.Unknown.Add("services", native.ReasonSourceGone.With("system_profiler lists no service, not even networking"))
		}
	}
	if p.Status == native.PortEmpty {
		p.Negotiated = &native.Link{State: native.LinkDown}
		known(&p.Unknown, "negotiated")
	}
}
