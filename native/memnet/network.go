package memnet

import (
	"net/netip"
	"sync"
)

// Network is hosts on LANs.
type Network struct {
	seed uint64

	mu    sync.Mutex
	hosts map[string]*Host
	lans  map[string]*lan
	apart map[[2]string]bool // hosts that no LAN joins for now, in order of name
}

// lan is one LAN with the lines between its interfaces.
type lan struct {
	isCut   bool
	quality Quality
	lines   map[[2]*plug]*Line
}

// plug is an interface of a host.
type plug struct {
	host      *Host
	name      string
	addresses []netip.Addr
	lan       string
	isOut     bool // pulled
}

// New makes an empty network; the seed decides what it delays and loses.
func New(seed uint64) *Network {
	return &Network{seed: seed, hosts: map[string]*Host{}, lans: map[string]*lan{}, apart: map[[2]string]bool{}}
}

// Attach gives a host an interface on a LAN. Host and LAN are made where they
// are not there yet.
func (n *Network) Attach(host, iface, lanName string, addresses ...netip.Addr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	h := n.host(host)
	if n.lans[lanName] == nil {
		n.lans[lanName] = &lan{lines: map[[2]*plug]*Line{}}
	}
	h.plugs = append(h.plugs, &plug{host: h, name: iface, addresses: addresses, lan: lanName})
}

// AddAddress gives an interface of a host one more address.
func (n *Network) AddAddress(host, iface string, address netip.Addr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.host(host).plug(iface); p != nil {
		p.addresses = append(p.addresses, address)
	}
}

// Host is the sockets of a host.
func (n *Network) Host(name string) *Host {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.host(name)
}

func (n *Network) host(name string) *Host {
	if n.hosts[name] == nil {
		n.hosts[name] = &Host{network: n, name: name, port: 49152}
	}
	return n.hosts[name]
}

// SetLAN cuts or heals a LAN.
func (n *Network) SetLAN(name string, up bool) {
	n.change(func() { n.lans[name].isCut = !up })
}

// SetPlug pulls or plugs the cable of an interface.
func (n *Network) SetPlug(host, iface string, in bool) {
	n.change(func() {
		for _, p := range n.hosts[host].plugs {
			if p.name == iface {
				p.isOut = !in
			}
		}
	})
}

// SetApart keeps two hosts from each other on every LAN, or no longer.
func (n *Network) SetApart(a, b string, apart bool) {
	n.change(func() { n.apart[pair(a, b)] = apart })
}

// SetQuality says how a LAN treats packets.
func (n *Network) SetQuality(lanName string, q Quality) {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.lans[lanName]
	l.quality = q
	for _, line := range l.lines {
		line.SetQuality(q)
	}
}

func pair(a, b string) [2]string {
	if b < a {
		a, b = b, a
	}
	return [2]string{a, b}
}

// change changes what is cut, and every line with it.
func (n *Network) change(f func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f()
	for _, l := range n.lans {
		for ends, line := range l.lines {
			line.SetCut(n.isCut(l, ends))
		}
	}
}

func (n *Network) isCut(l *lan, ends [2]*plug) bool {
	return l.isCut || ends[0].isOut || ends[1].isOut || n.apart[pair(ends[0].host.name, ends[1].host.name)]
}

// lineLocked is the line between two interfaces of a LAN.
func (n *Network) lineLocked(a, b *plug) *Line {
	l := n.lans[a.lan]
	ends := [2]*plug{a, b}
	line := l.lines[ends]
	if line == nil {
		line = l.lines[[2]*plug{b, a}]
	}
	if line == nil {
		n.seed++
		line = NewLine(n.seed, l.quality)
		l.lines[ends] = line
		line.SetCut(n.isCut(l, ends))
	}
	return line
}
