package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fulmen/native"
	"fulmen/native/sim/scenario"
)

// GPU returns what was recorded of a Mac's GPU, or nil.
func (w *World) GPU(mac string) *scenario.GPUMeasurement {
	for _, g := range w.scenario.Measurements.GPUs {
		if g.Mac == mac {
			return &g
		}
	}
	return nil
}

// Link returns the first of [World.Links], or nil.
func (w *World) Link(from, to, transport string) *scenario.LinkMeasurement {
	if all := w.Links(from, to, transport); len(all) != 0 {
		return &all[0]
	}
	return nil
}

// Links returns what was recorded between two Macs over a transport ("rdma" or
// "socket"), as seen from the first: one that was recorded the other way round
// is turned. Only what would be measured now is returned: over a cable, while
// both Macs run and every cable on the way is plugged and trained as it was when
// the world began; for RDMA, while the device's port is active; over a network,
// while both are on it. A retrained cable has no number.
func (w *World) Links(from, to, transport string) []scenario.LinkMeasurement {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []scenario.LinkMeasurement
	for i, l := range w.scenario.Measurements.Links {
		backwards := l.From == to && l.To == from
		if l.Transport != transport || !backwards && (l.From != from || l.To != to) {
			continue
		}
		now := w.measured(l)
		if !now.equal(w.recorded[i]) || transport == "rdma" && !w.rdmaActive(now.near) {
			continue
		}
		if backwards {
			l.From, l.To, l.UpBitsPerS, l.DownBitsPerS = l.To, l.From, l.DownBitsPerS, l.UpBitsPerS
			if now.far.number != 0 {
				l.Over = "tb" + strconv.Itoa(now.far.number)
			}
		}
		all = append(all, l)
	}
	return all
}

// path is what a measurement was made over: two ports and the links between
// them as both ends tell them, or, without ports, a network.
type path struct {
	near, far socket
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
		if number := strconv.Itoa(port.Receptacle); l.Over != "" && strings.TrimPrefix(l.Over, "tb") != number {
			continue
		}
		near := w.below(m, port.Receptacle)
		for _, peer := range near.peers {
			if peer.mac != other {
				continue
			}
			p := &path{near: socket{l.From, port.Receptacle}, far: socket{l.To, peer.port.Receptacle}}
			p.links = near.linksTo(p.far)
			far := w.below(other, p.far.number)
			p.links = append(p.links, far.linksTo(p.near)...)
			return p
		}
	}
	return nil
}

// linksTo are the links from the port to a peer, the peer's own first.
func (t tree) linksTo(s socket) []native.Link {
	for _, peer := range t.peers {
		if peer.mac.spec.Name != s.owner || peer.port.Receptacle != s.number {
			continue
		}
		links := []native.Link{peer.link}
		for route := peer.hub; route != ""; {
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

func (w *World) rdmaActive(s socket) bool {
	m := w.mac(s.owner)
	if m == nil || m.port(s.number) == nil {
		return false
	}
	own := m.iface(m.port(s.number).Interface)
	return own != nil && own.present && offersRDMA(m, m.port(s.number)) &&
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
	// Receptacle is the Mac's, and PeerReceptacle the peer's, of a cable; 0 for a network.
	Receptacle, PeerReceptacle int
	// Interfaces are the Mac's on that network, or that of the receptacle and the
	// bridge it is in.
	Interfaces []string
}

// Recorded returns what is recorded of a Mac; native.ErrNotFound where there is no
// such Mac.
func (w *World) Recorded(mac string) (Recorded, error) {
	r := Recorded{GPU: w.GPU(mac), Reach: w.Reach(mac)}
	for _, other := range w.Macs() {
		for _, transport := range []string{scenario.TransportSocket, scenario.TransportRDMA} {
			for _, l := range w.Links(mac, other, transport) {
				r.Paths = append(r.Paths, RecordedPath{LinkMeasurement: l})
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.mac(mac)
	if m == nil {
		return Recorded{}, fmt.Errorf("the Mac %q: %w", mac, native.ErrNotFound)
	}
	for i := range r.Paths {
		w.place(m, &r.Paths[i])
	}
	return r, nil
}

// place finds the interfaces of a recorded path; the caller holds mu.
func (w *World) place(m *mac, r *RecordedPath) {
	if n := w.network(r.Over); n != nil {
		for _, own := range m.ifaces {
			if own.spec.Network == n.spec.Name {
				r.Interfaces = append(r.Interfaces, own.spec.Name)
			}
		}
		return
	}
	p := w.measured(r.LinkMeasurement)
	if p == nil {
		return
	}
	r.Receptacle, r.PeerReceptacle = p.near.number, p.far.number
	name := m.port(p.near.number).Interface
	r.Interfaces = append(r.Interfaces, name)
	if b := m.bridgeOf(name); b != nil {
		r.Interfaces = append(r.Interfaces, b.name)
	}
}
