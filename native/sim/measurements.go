package sim

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"fulmen/native"
	"fulmen/native/sim/scenario"
)

// path is what a measurement was made over: two ports and the links between
// them as both ends tell them, or, without ports, a network.
type path struct {
	near, far scenario.End
	links     []native.Link
}

func (p *path) equal(other *path) bool {
	return p != nil && other != nil && p.near == other.near && p.far == other.far && slices.Equal(p.links, other.links)
}

// record notes the path of every measurement as it is.
func (w *World) record() {
	for _, l := range w.scenario.Measurements.Links {
		w.recorded = append(w.recorded, w.measured(l))
	}
}

// measured finds the path of a measurement; nil where there is none now.
func (w *World) measured(l scenario.LinkMeasurement) *path {
	m, other := w.mac(l.From), w.mac(l.To)
	if m == nil || other == nil {
		return nil
	}
	if n := w.network(l.Over); n != nil {
		if !w.onNetwork(m, n) || !w.onNetwork(other, n) || n.spec.Isolated {
			return nil
		}
		return &path{}
	}
	for _, port := range m.spec.Ports {
		if number := strconv.Itoa(port.PortNumber); l.Over != "" && strings.TrimPrefix(l.Over, "tb") != number {
			continue
		}
		near := w.below(m, port.PortNumber)
		for _, peer := range near.peers {
			if peer.mac != other {
				continue
			}
			p := &path{near: scenario.End{Owner: l.From, PortNumber: port.PortNumber}, far: scenario.End{Owner: l.To, PortNumber: peer.port.PortNumber}}
			p.links = near.linksTo(p.far)
			far := w.below(other, p.far.PortNumber)
			p.links = append(p.links, far.linksTo(p.near)...)
			return p
		}
	}
	return nil
}

// linksTo are the links from the port to a peer, the peer's own first.
func (t tree) linksTo(s scenario.End) []native.Link {
	for _, peer := range t.peers {
		if peer.mac.spec.Name != s.Owner || peer.port.PortNumber != s.PortNumber {
			continue
		}
		links := []native.Link{peer.link}
		for route := peer.hub; route != 0; {
			i := slices.IndexFunc(t.hubs, func(h hubAt) bool { return h.route == route })
			links = append(links, t.hubs[i].link)
			route = t.hubs[i].parent
		}
		return links
	}
	return nil
}

func (w *World) onNetwork(m *mac, n *network) bool {
	return slices.ContainsFunc(m.ifaces, func(i *iface) bool { return i.up && i.spec.Network == n.spec.Name })
}

func (w *World) rdmaActive(s scenario.End) bool {
	m := w.mac(s.Owner)
	if m == nil || m.port(s.PortNumber) == nil {
		return false
	}
	own := m.iface(m.port(s.PortNumber).Interface)
	return own != nil && own.present && offersRDMA(m, m.port(s.PortNumber)) &&
		w.device(m, own).PortState == native.RDMAPortActive
}

// Recorded is what the scenario records of one Mac, as far as it would be measured
// now.
type Recorded struct {
	// GPU is of its GPU; nil where nothing is recorded.
	GPU *scenario.GPUMeasurement `json:"gpu,omitzero"`
	// Paths are of its paths to others.
	Paths []RecordedPath `json:"paths,omitzero"`
	// Reach is where others answer it.
	Reach []Reach `json:"reach,omitzero"`
}

// RecordedPath is a recorded path with the Mac's interfaces that it goes over.
type RecordedPath struct {
	// From is the Mac.
	scenario.LinkMeasurement
	// PortNumber is the Mac's, and PeerPortNumber the peer's, of a cable; 0 for a network.
	PortNumber, PeerPortNumber int
	// Interfaces are the Mac's on that network, or that of the receptacle and the
	// bridge it is in.
	Interfaces []string
}

// Recorded returns what is recorded of a Mac, as seen from it: a path that was recorded
// the other way round is turned. It has only what would be measured now: over a cable,
// while both Macs run and every cable on the way is plugged and trained as it was when
// the world began; for RDMA, while the device's port is active; over a network, while
// both are on it. A retrained cable has no number. native.ErrNotFound where there is no
// such Mac.
func (w *World) Recorded(name string) (Recorded, error) {
	r := Recorded{Reach: w.Reach(name)}
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.mac(name)
	if m == nil {
		return Recorded{}, w.noMac(name)
	}
	for _, g := range w.scenario.Measurements.GPUs {
		if g.Mac == name {
			r.GPU = &g
		}
	}
	for i, l := range w.scenario.Measurements.Links {
		now := w.measured(l)
		if l.From != name && l.To != name || !now.equal(w.recorded[i]) || l.Transport == scenario.TransportRDMA && !w.rdmaActive(now.near) {
			continue
		}
		near, far := now.near, now.far
		if l.To == name {
			near, far = far, near
			l.From, l.To, l.UpBitsPerS, l.DownBitsPerS = l.To, l.From, l.DownBitsPerS, l.UpBitsPerS
			if near.PortNumber != 0 {
				l.Over = "tb" + strconv.Itoa(near.PortNumber)
			}
		}
		r.Paths = append(r.Paths, RecordedPath{l, near.PortNumber, far.PortNumber, w.interfacesLocked(m, l.Over, near)})
	}
	order := w.Macs()
	slices.SortStableFunc(r.Paths, func(a, b RecordedPath) int { // sockets before RDMA
		return cmp.Or(cmp.Compare(slices.Index(order, a.To), slices.Index(order, b.To)), strings.Compare(b.Transport, a.Transport))
	})
	return r, nil
}

// interfacesLocked are the interfaces of a Mac that a recorded path goes over.
func (w *World) interfacesLocked(m *mac, over string, near scenario.End) (names []string) {
	if n := w.network(over); n != nil {
		for _, own := range m.ifaces {
			if own.spec.Network == n.spec.Name {
				names = append(names, own.spec.Name)
			}
		}
		return names
	}
	names = []string{m.port(near.PortNumber).Interface}
	if b := m.bridgeOf(names[0]); b != nil {
		names = append(names, b.name)
	}
	return names
}
