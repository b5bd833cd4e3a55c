package linux

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"time"

	"fulmen/native"
	"fulmen/native/waker"
)

const (
	iffMulticast uint32 = 1 << 12
	// settleTime is how long changes of interfaces are gathered: one cable makes
	// a dozen of them.
	settleTime = 100 * time.Millisecond
)

// engine is the one goroutine that serves all announcements and searches of a
// platform, while there are any. It opens sockets for each interface as it comes,
// and closes them when it goes: a membership in a group does not outlive its
// interface, and none comes by itself with a new one.
type engine struct {
	machine *machine
	core    mdns
	sockets map[string][]*mdnsSocket
	packets chan heardPacket
	calls   chan func()
	changed waker.Waker // interfaces may have
	settled waker.Waker // and no more of it for a while
	wake    waker.Waker // something is due
	end     chan struct{}
	done    chan struct{}
	watch   *watch
	once    sync.Once
}

type heardPacket struct {
	iface   string
	message []byte
}

// startEngine begins to listen to the kernel's changes of interfaces.
func startEngine(m *machine) (*engine, error) {
	opened, err := openRouteEvents(0, func() bool { return false })
	if err != nil {
		return nil, err
	}
	e := &engine{
		machine: m, core: mdns{random: rand.Float64}, sockets: map[string][]*mdnsSocket{},
		packets: make(chan heardPacket), calls: make(chan func()),
		changed: waker.New(), settled: waker.New(), wake: waker.New(),
		end: make(chan struct{}), done: make(chan struct{}),
	}
	e.watch = &watch{
		machine: m, listeners: opened, areas: [][]native.Area{{native.AreaNetwork}},
		hint: func(native.Hint) { e.changed.Wake() },
	}
	if err := e.watch.begin(); err != nil {
		return nil, err
	}
	go e.run()
	return e, nil
}

// call runs f between two steps; false = the engine has ended.
func (e *engine) call(f func()) bool {
	ran := make(chan struct{})
	select {
	case e.calls <- func() { defer close(ran); f() }:
		<-ran
		return true
	case <-e.done:
		return false
	}
}

func (e *engine) run() {
	defer close(e.done)
	defer e.closeSockets(func(string) bool { return true })
	clock := e.machine.clock
	e.look()
	var timer, settle native.Timer
	for {
		out, next := e.core.step(clock.Boot())
		e.send(out)
		if timer != nil {
			timer.Stop()
		}
		if next > 0 {
			timer = clock.AfterFunc(next-clock.Boot(), e.wake.Wake)
		}
		select {
		case <-e.end:
			if timer != nil {
				timer.Stop()
			}
			if settle != nil {
				settle.Stop()
			}
			return
		case f := <-e.calls:
			f()
		case p := <-e.packets:
			e.core.receive(clock.Boot(), p.iface, p.message)
		case <-e.wake:
		case <-e.changed:
			if settle == nil {
				settle = clock.AfterFunc(settleTime, e.settled.Wake)
			}
		case <-e.settled:
			settle = nil
			e.look()
		}
	}
}

// stop ends the goroutine, its sockets and its ear for interfaces.
func (e *engine) stop() error {
	e.once.Do(func() { close(e.end) })
	<-e.done
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
	if err != nil {
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
		go s.read(func(message []byte) bool {
			select {
			case e.packets <- heardPacket{l.name, message}:
				return true
			case <-s.closing:
				return false
			}
		})
	}
}

func (e *engine) closeSockets(which func(name string) bool) {
	for name, sockets := range e.sockets {
		if !which(name) {
			continue
		}
		for _, s := range sockets {
			s.end()
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
