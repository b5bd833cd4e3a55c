package linux

import (
	"context"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/miekg/dns"

	"fulmen/native"
	"fulmen/native/waker"
)

const (
	iffMulticast uint32 = 1 << 12
	// settleTime is how long changes of interfaces are gathered: one cable makes
	// a dozen of them.
	settleTime = 100 * time.Millisecond
)

// engine serves all announcements and searches of a platform, while there are any,
// by a goroutine for what is due and one for each socket. It opens sockets for each
// interface as it comes, and closes them when it goes: a membership in a group does not
// outlive its interface, and none comes by itself with a new one.
type engine struct {
	machine *machine
	changed waker.Waker // interfaces may have
	settled waker.Waker // and no more of it for a while
	wake    waker.Waker // something is due
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	watch   *watch

	mu      sync.Mutex // of what follows
	core    mdns
	sockets map[string][]*mdnsSocket
}

// startEngine begins to listen to the kernel's changes of interfaces.
func startEngine(m *machine) (*engine, error) {
	opened, err := openRouteEvents(0, func() bool { return false })
	if err != nil {
		return nil, err
	}
	e := &engine{
		machine: m, core: mdns{random: rand.Float64}, sockets: map[string][]*mdnsSocket{},
		changed: waker.New(), settled: waker.New(), wake: waker.New(),
	}
	e.watch = &watch{
		machine: m, listeners: opened, areas: [][]native.Area{{native.AreaNetwork}},
		hint: func(native.Hint) { e.changed.Wake() },
	}
	if err := e.watch.begin(); err != nil {
		return nil, err
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	e.running.Go(e.run)
	return e, nil
}

// call runs f between two steps, the next of which follows at once.
func (e *engine) call(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f()
	e.wake.Wake()
}

func (e *engine) run() {
	clock := e.machine.clock
	e.call(e.look)
	var timer, settle native.Timer
	for {
		e.mu.Lock()
		out, next := e.core.step(clock.Boot())
		e.send(out)
		e.mu.Unlock()
		if timer != nil {
			timer.Stop()
		}
		if next > 0 {
			timer = clock.AfterFunc(next-clock.Boot(), e.wake.Wake)
		}
		select {
		case <-e.ctx.Done():
			if timer != nil {
				timer.Stop()
			}
			if settle != nil {
				settle.Stop()
			}
			return
		case <-e.wake:
		case <-e.changed:
			if settle == nil {
				settle = clock.AfterFunc(settleTime, e.settled.Wake)
			}
		case <-e.settled:
			settle = nil
			e.call(e.look)
		}
	}
}

// stop ends the goroutines, the sockets and the ear for interfaces.
func (e *engine) stop() error {
	e.cancel()
	e.call(func() { e.closeSockets(func(string) bool { return true }) })
	e.running.Wait()
	return e.watch.stop()
}

func (e *engine) send(all []outgoing) {
	for _, o := range all {
		for _, s := range e.sockets[o.iface] {
			s.send(o.message)
		}
	}
}

// look reads the interfaces and follows what has changed. When they cannot be
// read, all stays as it was.
func (e *engine) look() {
	tables, err := e.machine.links()
	if err != nil || e.ctx.Err() != nil { // stop has closed the sockets
		return
	}
	links := mdnsLinks(tables)
	e.closeSockets(func(name string) bool {
		was, is := e.core.links[name], links[name]
		return was.index != is.index || families(was.addresses) != families(is.addresses)
	})
	for name, l := range links {
		if e.sockets[name] == nil {
			e.openSockets(l)
		}
		if len(e.sockets[name]) == 0 {
			delete(links, name) // tried again at the next change
		}
	}
	e.core.setLinks(e.machine.clock.Boot(), links)
}

func (e *engine) openSockets(l mdnsLink) {
	has := families(l.addresses)
	for _, group := range []netip.Addr{mdnsGroup4, mdnsGroup6} {
		if group.Is4() && !has.four || !group.Is4() && !has.six {
			continue
		}
		s, err := openMDNS(group, l.index)
		if err != nil {
			continue // the other family may do
		}
		e.sockets[l.name] = append(e.sockets[l.name], s)
		e.running.Go(func() {
			s.read(func(message []byte) {
				e.call(func() { e.core.receive(e.machine.clock.Boot(), l.name, message) })
			})
		})
	}
}

func (e *engine) closeSockets(which func(name string) bool) {
	for name, sockets := range e.sockets {
		if !which(name) {
			continue
		}
		for _, s := range sockets {
			_ = s.Close()
		}
		delete(e.sockets, name)
	}
}

// family tells of which kinds addresses are. Multicast of IPv6 needs an address
// of the link.
type family struct{ four, six bool }

func families(addresses []netip.Addr) family {
	return family{
		slices.ContainsFunc(addresses, netip.Addr.Is4),
		slices.ContainsFunc(addresses, func(a netip.Addr) bool { return a.Is6() && a.IsLinkLocalUnicast() }),
	}
}

// mdnsLinks are the interfaces on which multicast DNS can be spoken now: up, with
// something at the other end, with an address. The members of a bridge hear
// nothing: their packets are the bridge's.
func mdnsLinks(t tables) map[string]mdnsLink {
	links := map[string]mdnsLink{}
	const needs = iffUp | iffLowerUp | iffMulticast
	for _, l := range t.Links {
		if l.Flags&needs != needs || l.Flags&iffLoopback != 0 || slices.ContainsFunc(t.Links, func(master link) bool {
			return master.Index == l.Master && slices.Contains([]string{"bridge", "bond", "team"}, master.Kind)
		}) {
			continue
		}
		found := mdnsLink{name: l.Name, index: l.Index}
		for _, a := range t.Addresses {
			if a.Index == l.Index && a.Flags&ifaTentative == 0 {
				found.addresses = append(found.addresses, a.Address.Addr())
			}
		}
		if has := families(found.addresses); has.four || has.six {
			slices.SortFunc(found.addresses, netip.Addr.Compare)
			links[l.Name] = found
		}
	}
	return links
}

// mostInterval is the longest time between two questions for all instances
// (RFC 6762, 5.2 allows no more); announcements tell what comes in between.
const mostInterval = time.Hour

// due is when there is something to ask or to forget next.
func (e *mdnsListener) due() time.Duration {
	next := e.ask
	for _, i := range e.instances {
		for _, l := range e.leases(i) {
			next = min(next, l.until)
			if at, ok := l.renewal(i.later); ok {
				next = min(next, at)
			}
		}
		if i.missing.tries > 0 && i.missing.tries <= mostTries {
			next = min(next, i.missing.from)
		}
	}
	return next
}

// leases are the leases of the records that an instance is known by.
func (e *mdnsListener) leases(i *receivedInstance) []*lease {
	all := []*lease{&i.pointer}
	if i.service.until > 0 {
		all = append(all, &i.service)
	}
	if i.text.until > 0 {
		all = append(all, &i.text)
	}
	for _, l := range e.hosts[i.host] {
		all = append(all, l)
	}
	return all
}

// questions are what is due to be asked, and with what is known already.
func (e *mdnsListener) questions(now time.Duration) (questions []dns.Question, known []dns.RR) {
	all := now >= e.ask
	if all {
		e.ask, e.interval = now+e.interval, min(3*e.interval, mostInterval)
	}
	for _, i := range e.instances {
		if len(questions) >= mostQuestions {
			break
		}
		if e.renew(now, &i.pointer, i.later) {
			// The answer to this brings all the rest with it.
			all = true
			for _, l := range e.leases(i)[1:] {
				e.renew(now, l, i.later)
			}
			continue
		}
		questions = append(questions, e.questionsOf(now, i)...)
	}
	if !all {
		return questions, nil
	}
	for _, i := range e.instances {
		// What has more than half of its life before it need not be told again
		// (RFC 6762, 7.1), as long as all the rest of it is known as well.
		left, life := i.pointer.until-now, i.pointer.until-i.pointer.from
		if i.reported != nil && left > life/2 && len(known) < mostQuestions {
			header := dns.RR_Header{Name: e.serviceType, Rrtype: dns.TypePTR, Class: dns.ClassINET, Ttl: uint32(left / time.Second)}
			known = append(known, &dns.PTR{Hdr: header, Ptr: i.name})
		}
	}
	return append(questions, question(e.serviceType, dns.TypePTR)), known
}

// questionsOf asks for parts of an instance that end soon or have not come.
func (e *mdnsListener) questionsOf(now time.Duration, i *receivedInstance) (questions []dns.Question) {
	missing := false
	if i.reported == nil && i.pointer.alive(now) {
		switch {
		case i.missing.tries == 0:
			// What belongs together may come in several messages.
			i.missing = lease{from: now + 100*time.Millisecond, tries: 1}
		case i.missing.tries <= mostTries && now >= i.missing.from:
			missing = true
			i.missing = lease{from: now + time.Second<<i.missing.tries, tries: i.missing.tries + 1}
		}
	}
	if e.renew(now, &i.service, i.later) || missing && !i.service.alive(now) {
		questions = append(questions, question(i.name, dns.TypeSRV))
	}
	if e.renew(now, &i.text, i.later) || missing && !i.text.alive(now) {
		questions = append(questions, question(i.name, dns.TypeTXT))
	}
	ofHost := missing && i.host != "" && len(e.hosts[i.host]) == 0
	for _, l := range e.hosts[i.host] {
		ofHost = e.renew(now, l, i.later) || ofHost
	}
	if ofHost {
		questions = append(questions, question(i.host, dns.TypeA), question(i.host, dns.TypeAAAA))
	}
	return questions
}

// renew reports whether a record is to be asked for again, and counts the try.
func (e *mdnsListener) renew(now time.Duration, l *lease, later float64) bool {
	at, ok := l.renewal(later)
	if !ok || now < at {
		return false
	}
	l.tries++
	return true
}

func question(name string, rrtype uint16) dns.Question {
	return dns.Question{Name: name, Qtype: rrtype, Qclass: dns.ClassINET}
}
