package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"fulmen/native"
)

// Recording is what one Mac tells of its receptacles, as a parser of
// system_profiler's output gives it.
type Recording struct {
	// Mac is the name it gets in the scenario.
	Mac string
	// Thunderbolt is what was recorded.
	Thunderbolt native.Thunderbolt
	// Interfaces are the receptacles' network interfaces where another source
	// told them; they win over those in the facts.
	Interfaces map[int]string
	// Whole is the rest of what the Mac told, where all of it was recorded; else nil.
	Whole *WholeMac
}

// WholeMac is what a recording of a whole Mac tells beside Thunderbolt. Addresses are no
// part of it: they were replaced.
type WholeMac struct {
	// Identity has the model, the chip and the system.
	Identity native.Identity
	// RDMA is the switch and the devices, with what these can have.
	RDMA native.RDMA
	// Bridges are its software bridges, and Interfaces those of its network interfaces that
	// are no receptacle's, by name.
	Bridges    []native.Bridge
	Interfaces map[string]native.InterfaceType
}

// FromRecordings rebuilds the cluster that two or more Macs were recorded in:
// the ends of a cable are matched by their domains, and hubs become hubs named
// after the Mac that drives them. A computer that was not recorded itself is
// left out and noted. The error joins everything in which the recordings
// contradict each other: a domain that two ports have, a peer that does not name
// its peer, ends that negotiated different speeds.
func FromRecordings(name string, recordings []Recording) (Scenario, error) {
	r := rebuilding{
		problems:   &problems{file: name},
		recordings: recordings,
		scenario:   Scenario{Name: name, Title: recordedFrom(len(recordings))},
		domains:    map[string]recordedPort{},
		hubs:       map[hubAt]string{},
	}
	if len(recordings) < 2 && (len(recordings) == 0 || recordings[0].Whole == nil) {
		r.problems.add("", "%d recording(s); cables can be matched only between two or more Macs", len(recordings))
		return Scenario{}, r.problems.err()
	}
	for i := range recordings {
		r.addMac(i)
	}
	r.each(r.addHubs)
	r.each(r.addPeers)
	r.addIdentities()
	// What contradicts says more than what cannot be cabled because of it.
	if len(r.problems.list) == 0 {
		r.scenario.check(r.problems)
	}
	if err := r.problems.err(); err != nil {
		return Scenario{}, err
	}
	return r.scenario, nil
}

func recordedFrom(macs int) string {
	if macs == 1 {
		return "Recorded from a Mac"
	}
	return fmt.Sprintf("Recorded from %d Macs", macs)
}

type rebuilding struct {
	problems   *problems
	recordings []Recording
	scenario   Scenario
	domains    map[string]recordedPort
	hubs       map[hubAt]string // names
}

// recordedPort is a port with the Mac that has it.
type recordedPort struct {
	mac  string
	port native.Port
}

func (p recordedPort) end() End { return End{Owner: p.mac, PortNumber: p.port.PortNumber} }

// hubAt is a hub by the port it hangs below and its route there.
type hubAt struct {
	root  End
	route string
}

func (r *rebuilding) fail(format string, args ...any) { r.problems.add("", format, args...) }

func (r *rebuilding) note(format string, args ...any) {
	r.scenario.Notes = append(r.scenario.Notes, fmt.Sprintf(format, args...))
}

func (r *rebuilding) each(do func(recordedPort)) {
	for _, recording := range r.recordings {
		for _, port := range recording.Thunderbolt.Ports {
			do(recordedPort{recording.Mac, port})
		}
	}
}

func (r *rebuilding) addMac(i int) {
	recording := r.recordings[i]
	if err := checkName(recording.Mac); err != nil {
		r.fail("recording %d: %s", i+1, err)
	}
	mac := Mac{
		Name:        recording.Mac,
		Identity:    native.Identity{Name: recording.Mac, HostName: recording.Mac, OSName: "macOS", HardwareID: "scenario:" + MakeUUID(r.scenario.Name, recording.Mac)},
		Pressure:    native.PressureNormal,
		RDMA:        native.RDMAOff,
		PowerSource: native.PowerAC, ThermalState: native.ThermalNominal,
		Jobs: "nobody",
	}
	for _, recorded := range recording.Thunderbolt.Ports {
		port := Port{
			PortNumber: recorded.PortNumber, Place: recorded.Place, Capability: r.capability(recording.Mac, recorded),
			DomainUUID: recorded.DomainUUID, Interface: cmp.Or(recording.Interfaces[recorded.PortNumber], recorded.Interface),
			BesideEthernet: recorded.BesideEthernet != nil && *recorded.BesideEthernet,
		}
		at := fmt.Sprintf("recording of %s: port %d", recording.Mac, port.PortNumber)
		if port.PortNumber < 1 || port.PortNumber > maxPortNumber {
			r.fail("%s is outside 1 to %d", at, maxPortNumber)
		}
		if _, twice := mac.Port(port.PortNumber); twice {
			r.fail("%s is recorded twice", at)
			continue
		}
		if port.Capability == "" {
			r.note("%s does not say what it can do; it is left out", at)
			continue
		}
		if port.DomainUUID == "" {
			port.DomainUUID = MakeUUID(r.scenario.Name, mac.Name, strconv.Itoa(port.PortNumber))
		} else if other, ok := r.domains[port.DomainUUID]; ok {
			r.fail("%s: its domain %s is also that of %s; was one Mac recorded twice?", at, port.DomainUUID, other.end())
		} else {
			r.domains[port.DomainUUID] = recordedPort{recording.Mac, recorded}
		}
		mac.Ports = append(mac.Ports, port)
		if port.Interface != "" {
			mac.Interfaces = append(mac.Interfaces, portInterface(port))
		}
	}
	if recording.Whole != nil {
		r.addWhole(&mac, *recording.Whole)
	}
	r.scenario.Macs = append(r.scenario.Macs, mac)
}

// addWhole adds what a recording of a whole Mac tells beside its receptacles.
func (r *rebuilding) addWhole(mac *Mac, whole WholeMac) {
	id := &mac.Identity
	id.Model, id.Chip = whole.Identity.Model, whole.Identity.Chip
	system := whole.Identity.OSVersion
	if whole.Identity.OSBuild != "" {
		system += "/" + whole.Identity.OSBuild
	}
	var err error
	if id.OSVersion, id.OSBuild, err = ParseOS(system); err != nil {
		r.note("recording of %s: %s; it is left out", mac.Name, err)
	}
	mac.RDMA = native.RDMASwitch(cmp.Or(string(whole.RDMA.Switch), string(native.RDMAOff)))
	mac.OSCapable = whole.RDMA.OSCapable != nil && *whole.RDMA.OSCapable
	for _, d := range whole.RDMA.Devices {
		switch {
		case d.Limits == nil:
		case mac.RDMALimits == nil:
			mac.RDMALimits = d.Limits
		case *mac.RDMALimits != *d.Limits:
			r.note("recording of %s: the RDMA devices have different limits; those of the first are used for all", mac.Name)
		}
	}
	named := func(name string) bool {
		err := checkInterfaceName(name)
		if err != nil {
			r.note("recording of %s: %s; it is left out", mac.Name, err)
		}
		return err == nil
	}
	for _, name := range slices.Sorted(maps.Keys(whole.Interfaces)) {
		if !named(name) || slices.ContainsFunc(mac.Interfaces, func(i Interface) bool { return i.Name == name }) {
			continue
		}
		mac.Interfaces = append(mac.Interfaces, Interface{Name: name, Type: whole.Interfaces[name], LinkUp: true, MTUBytes: 1500})
	}
	for _, b := range whole.Bridges {
		members := slices.DeleteFunc(slices.Clone(b.StoredMembers), func(member string) bool {
			return !slices.ContainsFunc(mac.Interfaces, func(i Interface) bool { return i.Name == member })
		})
		if len(members) > 0 && named(b.Name) {
			mac.Bridges = append(mac.Bridges, Bridge{Name: b.Name, Members: members})
		}
	}
}

// capability is what the port is said to be, or at least what its link proves:
// only two tb5 go above 40 Gb/s.
func (r *rebuilding) capability(mac string, port native.Port) native.ThunderboltVersion {
	switch {
	case port.Capability != "":
		return port.Capability
	case port.Negotiated == nil || port.Negotiated.State != native.LinkUp:
		return ""
	case isTB5(port.Negotiated):
		return native.TB5
	}
	r.note("recording of %s: port %d does not say what it can do; it is taken for tb4, because its link runs at %s",
		mac, port.PortNumber, port.Negotiated.Speed())
	return native.TB4
}

func isTB5(link *native.Link) bool {
	return link != nil && max(link.TxBitsPerS, link.RxBitsPerS) > 40*gigabit
}

// addHubs adds the hubs below the port, with the cables upstream of them.
func (r *rebuilding) addHubs(p recordedPort) {
	hubs := slices.Clone(p.port.Hubs)
	for _, hub := range hubs {
		at := hubAt{p.end(), hub.Route}
		if _, ok := r.hubs[at]; ok {
			r.fail("recording of %s: two hubs at route %s of port %d", p.mac, hub.Route, p.port.PortNumber)
			return
		}
		r.hubs[at] = fmt.Sprintf("%s-hub-%d", p.mac, r.hubsOf(p.mac)+1)
		r.scenario.Hubs = append(r.scenario.Hubs, Hub{
			Name: r.hubs[at], Vendor: hub.Vendor, Product: hub.Name, Capability: r.hubCapability(p, hub),
		})
	}
	for _, hub := range hubs {
		upstream := p.end()
		if hub.Parent != "" {
			parent, ok := r.hubs[hubAt{p.end(), hub.Parent}]
			if !ok {
				r.fail("recording of %s: port %d: hub %s is listed below route %s, where there is no hub",
					p.mac, p.port.PortNumber, hub.Route, hub.Parent)
				continue
			}
			upstream = r.downstream(parent)
		}
		r.addCable(upstream, End{Owner: r.hubs[hubAt{p.end(), hub.Route}], Hub: true}, hub.Negotiated)
	}
}

func (r *rebuilding) hubsOf(mac string) (count int) {
	for at := range r.hubs {
		if at.root.Owner == mac {
			count++
		}
	}
	return count
}

// hubCapability is what the fastest link of the hub proves.
func (r *rebuilding) hubCapability(p recordedPort, hub native.Hub) native.ThunderboltVersion {
	links := []*native.Link{hub.Negotiated}
	for _, below := range p.port.Hubs {
		if below.Parent == hub.Route {
			links = append(links, below.Negotiated)
		}
	}
	for _, peer := range p.port.Peers {
		if peer.Hub == hub.Route {
			links = append(links, peer.Negotiated)
		}
	}
	for _, link := range links {
		if isTB5(link) {
			return native.TB5
		}
	}
	return native.TB4
}

// downstream adds a receptacle to the hub.
func (r *rebuilding) downstream(hub string) End {
	i := slices.IndexFunc(r.scenario.Hubs, func(h Hub) bool { return h.Name == hub })
	r.scenario.Hubs[i].Downstream++
	return End{Owner: hub, Hub: true, PortNumber: r.scenario.Hubs[i].Downstream}
}

func (r *rebuilding) addCable(a, b End, link *native.Link) {
	cable := Cable{Ends: [2]End{a, b}}
	if link != nil && link.State == native.LinkUp {
		cable.Speed = link.Speed()
	}
	r.scenario.Cables = append(r.scenario.Cables, cable)
}

// addPeers joins the port to the recorded ports that it names as peers. Each
// pair is joined once, from the end that comes first.
func (r *rebuilding) addPeers(p recordedPort) {
	for _, peer := range p.port.Peers {
		other, recorded := r.domains[peer.DomainUUID]
		if !recorded {
			r.note("%s leads to %s, which was not recorded; the cable is left out", p.end(), cmp.Or(peer.Name, "a computer without a name"))
			continue
		}
		i := slices.IndexFunc(other.port.Peers, func(q native.Peer) bool { return q.DomainUUID == p.port.DomainUUID })
		if i < 0 {
			r.fail("%s names %s as its peer, but %s does not name %s; were they recorded at the same time?",
				p.end(), other.end(), other.end(), p.end())
			continue
		}
		if r.comesFirst(p, other) {
			r.join(p, peer, other, other.port.Peers[i])
		}
	}
}

func (r *rebuilding) comesFirst(a, b recordedPort) bool {
	index := func(p recordedPort) int {
		return slices.IndexFunc(r.recordings, func(q Recording) bool { return q.Mac == p.mac })
	}
	if a.mac == b.mac {
		return a.port.PortNumber < b.port.PortNumber
	}
	return index(a) < index(b)
}

// join adds the last cable between two ports: below the last hub of each side.
func (r *rebuilding) join(a recordedPort, toB native.Peer, b recordedPort, toA native.Peer) {
	if toB.Negotiated != nil && toA.Negotiated != nil && toB.Hub == "" && toA.Hub == "" {
		there, back := toB.Negotiated.Speed(), toA.Negotiated.Speed()
		if there.TxBitsPerS != back.RxBitsPerS || there.RxBitsPerS != back.TxBitsPerS {
			r.fail("%s says that its link to %s runs at %s, but the other end says %s", a.end(), b.end(), there, back)
		}
	}
	end := func(p recordedPort, to native.Peer) (End, bool) {
		if to.Hub == "" {
			return p.end(), true
		}
		hub, ok := r.hubs[hubAt{p.end(), to.Hub}]
		if !ok {
			r.fail("%s: its peer %s is listed below route %s, where there is no hub", p.end(), to.DomainUUID, to.Hub)
			return End{}, false
		}
		return r.downstream(hub), true
	}
	from, ok := end(a, toB)
	if !ok {
		return
	}
	to, ok := end(b, toA)
	if !ok {
		return
	}
	// The side that has the hub knows the last hop; without one both do.
	link := toB.Negotiated
	if toB.Hub == "" && toA.Hub != "" && toA.Negotiated != nil {
		reversed := *toA.Negotiated
		reversed.TxBitsPerS, reversed.RxBitsPerS = reversed.RxBitsPerS, reversed.TxBitsPerS
		link = &reversed
	}
	r.addCable(from, to, link)
}

// addIdentities takes from what peers say of a Mac what it does not say itself:
// its model, and that its RDMA is on, for only then it offers the service.
func (r *rebuilding) addIdentities() {
	r.each(func(p recordedPort) {
		for _, peer := range p.port.Peers {
			other, recorded := r.domains[peer.DomainUUID]
			if !recorded {
				continue
			}
			i := slices.IndexFunc(r.scenario.Macs, func(m Mac) bool { return m.Name == other.mac })
			mac := &r.scenario.Macs[i]
			if mac.Identity.Model != "" && peer.Name != "" && mac.Identity.Model != peer.Name {
				r.fail("%s calls %s a %s, but another peer calls it a %s", p.end(), mac.Name, peer.Name, mac.Identity.Model)
			}
			mac.Identity.Model = cmp.Or(mac.Identity.Model, peer.Name)
			if offered, _ := peer.Offers(native.ProtocolRDMA); offered {
				mac.RDMA, mac.OSCapable = native.RDMAOn, true
			}
		}
	})
}
