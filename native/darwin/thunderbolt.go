package darwin

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"fulmen/native"
)

// The base classes that count, as registrykinds.c has them.
const (
	kindController = "IOThunderboltController"
	kindLocalNode  = "IOThunderboltLocalNode"
	kindPort       = "IOThunderboltPort"
	kindSwitch     = "IOThunderboltSwitch"
	kindPeer       = "IOThunderboltXDomainLink"
	kindService    = "IOThunderboltXDomainService"
	kindIPPort     = "AppleThunderboltIPPort"
	kindInterface  = "IOEthernetInterface"
	kindRDMA       = "AppleThunderboltRDMAInterface"
	kindRDMAClient = "IORDMAFamilyUC"
)

// adapterLane is the type of a router's port that is one end of a cable's lane;
// the others lead to PCIe, USB and displays.
const adapterLane = 1

// thunderbolt tells every receptacle of a walk. places are those on the case, by
// the number of the controller's node in the device tree.
func thunderbolt(t tree, places map[string]string) *native.Thunderbolt {
	out := &native.Thunderbolt{Ports: []native.Port{}}
	for _, controller := range t.roots(kindController) {
		out.Ports = append(out.Ports, portsOf(t, controller, places)...)
	}
	slices.SortStableFunc(out.Ports, func(a, b native.Port) int { return cmp.Compare(a.Receptacle, b.Receptacle) })
	// Two controllers that claim one receptacle: the first keeps it.
	out.Ports = slices.CompactFunc(out.Ports, func(a, b native.Port) bool { return a.Receptacle == b.Receptacle })
	return out
}

// portsOf tells a controller's receptacles: one on Apple silicon, two on older
// ones. The lanes of one receptacle share its number.
func portsOf(t tree, controller *entry, places map[string]string) []native.Port {
	lanes := map[int][]*entry{}
	for _, host := range t.under(controller, []string{kindSwitch}, []string{kindSwitch}) {
		for _, lane := range t.children(host, kindPort) {
			if n, ok := socket(lane); ok && isLane(lane) {
				lanes[n] = append(lanes[n], lane)
			}
		}
	}
	ips := map[int]*entry{}
	for _, ip := range t.under(controller, []string{kindIPPort}, []string{kindIPPort, kindSwitch}) {
		if n, ok := receptacle(ip.properties["IOLocation"]); ok {
			ips[n] = ip
			if lanes[n] == nil {
				lanes[n] = nil // its network interface is there, its lanes are not (yet)
			}
		}
	}
	var ports []native.Port
	for n, own := range lanes {
		ports = append(ports, portOf(t, controller, n, own, ips[n], places))
	}
	return ports
}

func portOf(t tree, controller *entry, receptacle int, lanes []*entry, ip *entry, places map[string]string) native.Port {
	p := native.Port{Receptacle: receptacle, Status: native.PortEmpty, Hubs: []native.Hub{}, Peers: []native.Peer{}}
	setDomain(t, controller, &p)
	if place, ok := placeOf(controller, places); ok {
		p.Place = place
	} else {
		p.Unknown.Add("place", native.ReasonNoOS.With("the device tree does not say"))
	}
	setInterface(t, ip, &p)
	if len(lanes) == 0 {
		gone := native.ReasonSourceGone.With("no lane of this receptacle in the registry")
		p.Status = ""
		p.Hubs, p.Peers = nil, nil
		for _, field := range []string{"capability", "status", "negotiated", "hubs", "peers"} {
			p.Unknown.Add(field, gone)
		}
		return p
	}
	slices.SortFunc(lanes, func(a, b *entry) int { return cmp.Compare(laneNumber(a), laneNumber(b)) })
	first := lanes[0]
	setCapability(t, first, &p)
	for _, lane := range lanes {
		if hangs(t, lane) {
			first = lane // the cable's link is told on the lane that holds what is attached
		}
		addBelow(t, lane, "", &p)
	}
	if why := p.Unknown["hubs"]; why != "" {
		p.Hubs, p.Peers = nil, nil // others may hang from the one that is not told
		p.Unknown.Add("peers", why)
	}
	// Nearest first, whatever the order of the ports that they hang from.
	slices.SortStableFunc(p.Hubs, func(a, b native.Hub) int { return cmp.Compare(len(a.Route), len(b.Route)) })
	slices.SortStableFunc(p.Peers, func(a, b native.Peer) int { return cmp.Compare(len(a.Hub), len(b.Hub)) })
	if p.Status == native.PortEmpty {
		// An idle port can keep its lanes trained: that is no link with anything.
		p.Negotiated = &native.Link{State: native.LinkDown}
		return p
	}
	if link, why := linkOf(first); why != "" {
		p.Unknown.Add("negotiated", why)
	} else {
		p.Negotiated = link
	}
	return p
}

// hangs reports whether a router or a computer hangs from a lane.
func hangs(t tree, lane *entry) bool { return len(t.children(lane, kindSwitch, kindPeer)) > 0 }

// addBelow tells what hangs from a lane; route is that of the hub it is a port
// of, "" for this Mac's own.
func addBelow(t tree, lane *entry, route string, p *native.Port) {
	for _, hub := range t.children(lane, kindSwitch) {
		if p.Status == native.PortEmpty {
			p.Status = native.PortDevice
		}
		h, ok := hubOf(hub, lane, route)
		if !ok || slices.ContainsFunc(p.Hubs, func(other native.Hub) bool { return other.Route == h.Route }) {
			// Without its route nothing can be said to hang from it.
			p.Unknown.Add("hubs", native.ReasonSourceMalformed.With("a router without a route of its own"))
			continue
		}
		p.Hubs = append(p.Hubs, h)
		for _, port := range t.children(hub, kindPort) {
			addBelow(t, port, h.Route, p)
		}
	}
	for _, peer := range t.children(lane, kindPeer) {
		p.Status = native.PortPeer
		p.Peers = append(p.Peers, peerOf(t, peer, lane, route))
	}
}

func hubOf(hub, lane *entry, parent string) (native.Hub, bool) {
	route, ok := hub.number("Route String")
	depth, isHub := hub.number("Depth")
	if !ok || route == 0 || isHub && depth == 0 {
		return native.Hub{}, false
	}
	h := native.Hub{Route: "0x" + strconv.FormatUint(uint64(route), 16), Parent: parent}
	setText(hub, "Device Vendor Name", &h.Vendor, &h.Unknown, "vendor")
	setText(hub, "Device Model Name", &h.Name, &h.Unknown, "name")
	setLink(lane, &h.Negotiated, &h.Unknown)
	return h, true
}

func peerOf(t tree, peer, lane *entry, hub string) native.Peer {
	p := native.Peer{Hub: hub, Services: []native.PeerService{}}
	setText(peer, "Domain UUID", &p.DomainUUID, &p.Unknown, "domain_uuid")
	setText(peer, "Device Name", &p.Name, &p.Unknown, "name")
	setText(peer, "Vendor Name", &p.Vendor, &p.Unknown, "vendor")
	setLink(lane, &p.Negotiated, &p.Unknown)
	for _, service := range t.under(peer, []string{kindService}, []string{kindService, kindSwitch}) {
		// The number is what counts; the key beside it changed between systems.
		id, ok := service.number("Protocol ID")
		version, told := service.number("Protocol Version")
		if !ok || !told {
			p.Services = nil
			p.Unknown.Add("services", native.ReasonSourceMalformed.With("a service without its protocol"))
			return p
		}
		p.Services = append(p.Services, native.PeerService{ProtocolID: id, Version: version})
	}
	slices.SortFunc(p.Services, func(a, b native.PeerService) int { return cmp.Compare(a.ProtocolID, b.ProtocolID) })
	return p
}

func setDomain(t tree, controller *entry, p *native.Port) {
	for _, node := range t.under(controller, []string{kindLocalNode}, []string{kindLocalNode, kindSwitch}) {
		setText(node, "Domain UUID", &p.DomainUUID, &p.Unknown, "domain_uuid")
		return
	}
	p.Unknown.Add("domain_uuid", native.ReasonSourceGone.With("no local node in the registry"))
}

// setInterface reads which interface belongs to the receptacle; it is never
// computed.
func setInterface(t tree, ip *entry, p *native.Port) {
	if ip != nil {
		for _, i := range t.under(ip, []string{kindInterface}, []string{kindInterface}) {
			setText(i, "BSD Name", &p.Interface, &p.Unknown, "interface")
			return
		}
	}
	p.Unknown.Add("interface", native.ReasonSourceGone.With("no network interface of this receptacle in the registry"))
}

func setCapability(t tree, lane *entry, p *native.Port) {
	speeds, ok := lane.number("Supported Link Speed")
	version, _ := lane.number("Thunderbolt Version")
	if i := slices.IndexFunc(t.all, func(e entry) bool { return e.id == lane.parent }); i >= 0 {
		router := &t.all[i]
		if of, told := router.number("Thunderbolt Version"); told {
			version = of
		}
		if of, told := router.number("Supported Link Speed"); told && !ok {
			speeds, ok = of, true
		}
	}
	capability, err := native.PortCapability(speeds, version)
	switch {
	case !ok:
		p.Unknown.Add("capability", native.ReasonNoOS.With("no Supported Link Speed"))
	case err != nil:
		p.Unknown.Add("capability", native.ReasonSourceMalformed.With(err.Error()))
	default:
		p.Capability = capability
	}
}

func setLink(lane *entry, into **native.Link, unknown *native.Reasons) {
	link, why := linkOf(lane)
	if why != "" {
		unknown.Add("negotiated", why)
		return
	}
	*into = link
}

func linkOf(lane *entry) (*native.Link, native.Reason) {
	speed, hasSpeed := lane.number("Current Link Speed")
	width, hasWidth := lane.number("Current Link Width")
	if !hasSpeed || !hasWidth {
		return nil, native.ReasonSourceMalformed.With("a lane without its speed or width")
	}
	link, err := native.NegotiatedLink(speed, width)
	if err != nil {
		return nil, native.ReasonSourceMalformed.With(err.Error())
	}
	return &link, ""
}

// setText takes a property that is a text, or says why it is absent.
func setText(e *entry, key string, into *string, unknown *native.Reasons, field string) {
	value, there := e.properties[key]
	text, ok := e.text(key)
	switch {
	case ok:
		*into = text
	case there:
		unknown.Add(field, native.ReasonSourceMalformed.With(fmt.Sprintf("%s is %.40v", key, value)))
	default:
		unknown.Add(field, native.ReasonSourceGone.With("no "+key))
	}
}
