package darwin

import (
	"cmp"
	"slices"

	"fulmen/native"
)

// link is a computer's link as the registry has it.
type link struct {
	peer *entry
	// lane is the port that it hangs from, hub the router of that port where it is
	// not this Mac's own; nil where none is told.
	lane, hub *entry
	// loose says that it hangs from no lane, so that hubs in between are not told.
	loose bool
}

// peers are the computers below one controller. Where in the tree their links and
// services hang is documented for no version of macOS, so they are looked for
// everywhere below the controller.
type peers struct {
	t          tree
	controller *entry
	count      int
	astray     bool // a link that belongs to no receptacle for certain
}

// newPeers finds the links and gives each to its receptacle: that of the nearest lane
// above it, else the controller's only one.
func newPeers(t tree, controller *entry, parts map[int]*socketParts) *peers {
	owner := map[uint64]*socketParts{}
	var only *socketParts
	for _, own := range parts {
		only = own
		for _, lane := range own.lanes {
			owner[lane.id] = own
		}
	}
	all := t.under(controller, []string{kindPeer}, nil)
	p := &peers{t: t, controller: controller, count: len(all)}
	for _, peer := range all {
		l := link{peer: peer, loose: true}
		own := only
		for _, e := range t.above(peer) {
			switch {
			case l.hub == nil && l.lane == nil && e.kind == kindPort && isLane(e):
				l.lane = e
			case l.hub == nil && e.kind == kindSwitch:
				l.hub = e
			}
			if owner[e.id] != nil {
				own, l.loose = owner[e.id], false
				break
			}
		}
		if l.loose {
			l.lane, l.hub = nil, nil
			if len(parts) != 1 {
				p.astray = true
				continue
			}
		}
		own.links = append(own.links, l)
	}
	return p
}

// add tells the computers of a receptacle, whose hubs are told already, and what
// that says of its status.
func (p *peers) add(own *socketParts, port *native.Port) {
	why := port.Unknown["hubs"]
	for _, l := range own.links {
		port.Status = native.PortPeer
		route, ok := routeTo(l, port.Hubs)
		if !ok && why == "" {
			why = native.ReasonSourceMalformed.With("a computer's link that hangs from none of the hubs")
		}
		port.Peers = append(port.Peers, p.peerOf(own, l, route))
	}
	up, told := isLinked(own.ip)
	switch {
	case len(own.links) > 0:
	case up:
		port.Status = native.PortPeer // networking over Thunderbolt is with computers alone
		why = cmp.Or(why, native.ReasonSourcesDisagree.With("the network link is up, and the registry has no computer at its end"))
	case p.astray:
		why = cmp.Or(why, native.ReasonSourceMalformed.With("a computer's link that hangs from none of the receptacles"))
	case !told && port.Status == native.PortEmpty && slices.ContainsFunc(own.lanes, isTrained):
		why = native.ReasonSourceGone.With("a lane is trained, and the registry does not tell with what")
	}
	if why == "" {
		return
	}
	port.Peers = nil
	port.Unknown.Add("peers", why)
	if port.Status == native.PortEmpty {
		port.Status = ""
		port.Unknown.Add("status", why)
	}
}

// isLinked reports whether the network link of a receptacle is up, and whether that
// is told at all. The link is up when it is valid (1) and active (2).
func isLinked(ip *entry) (up, told bool) {
	if ip == nil {
		return false, false
	}
	status, told := ip.number("IOLinkStatus")
	return status&3 == 3, told
}

// routeTo is the route of the hub that a link hangs from, "" for none.
func routeTo(l link, hubs []native.Hub) (route string, ok bool) {
	if l.hub == nil {
		return "", !l.loose || len(hubs) == 0
	}
	route, ok = routeOf(l.hub)
	return route, ok && slices.ContainsFunc(hubs, func(h native.Hub) bool { return h.Route == route })
}

func (p *peers) peerOf(own *socketParts, l link, hub string) native.Peer {
	out := native.Peer{Hub: hub}
	setText(l.peer, "Domain UUID", &out.DomainUUID, &out.Unknown, "domain_uuid")
	setText(l.peer, "Device Name", &out.Name, &out.Unknown, "name")
	setText(l.peer, "Vendor Name", &out.Vendor, &out.Unknown, "vendor")
	switch {
	case hub == "":
		own.setLink(p.t, &out.Negotiated, &out.Unknown) // the cable is the receptacle's
	case l.lane != nil:
		setLink(l.lane, &out.Negotiated, &out.Unknown)
	default:
		out.Unknown.Add("negotiated", native.ReasonSourceGone.With("the computer's link hangs from no port of its hub"))
	}
	services, why := p.servicesOf(l.peer)
	if why != "" {
		out.Unknown.Add("services", why)
	}
	out.Services = services
	return out
}

// servicesOf are the services that a computer offers. None at all is no answer: a Mac
// offers networking to every computer.
func (p *peers) servicesOf(peer *entry) ([]native.PeerService, native.Reason) {
	found := p.t.under(peer, []string{kindService}, []string{kindService})
	found = append(found, p.apart()...)
	var out []native.PeerService
	for _, service := range found {
		// The number is what counts; the key beside it changed between systems.
		id, ok := service.number("Protocol ID")
		version, told := service.number("Protocol Version")
		if !ok || !told {
			return nil, native.ReasonSourceMalformed.With("a service without its protocol")
		}
		out = append(out, native.PeerService{ProtocolID: id, Version: version})
	}
	if len(out) == 0 {
		return nil, native.ReasonSourceGone.With("no service of this computer in the registry, not even networking")
	}
	offered := slices.ContainsFunc(out, func(s native.PeerService) bool { return s.ProtocolID == native.ProtocolRDMA })
	if !offered && len(p.rdmaOffers(peer)) > 0 {
		return nil, native.ReasonSourcesDisagree.With("RDMA is in use with this computer, and not among its services")
	}
	slices.SortFunc(out, func(a, b native.PeerService) int { return cmp.Compare(a.ProtocolID, b.ProtocolID) })
	return out, ""
}

// rdmaOffers are the entries that Apple's driver makes of a computer's offer of RDMA,
// as far as they are certain to be of that computer.
func (p *peers) rdmaOffers(peer *entry) []*entry {
	if p.count > 1 {
		return p.t.under(peer, []string{kindRDMAPeer}, nil)
	}
	return p.t.under(p.controller, []string{kindRDMAPeer}, nil)
}

// apart are services that hang from no computer. They could as well be this Mac's
// own: they are the only computer's where its offer of RDMA is among them.
func (p *peers) apart() []*entry {
	if p.count != 1 {
		return nil
	}
	var out []*entry
	proven := false
	for _, service := range p.t.under(p.controller, []string{kindService}, []string{kindService, kindPeer}) {
		out = append(out, service)
		proven = proven || len(p.t.under(service, []string{kindRDMAPeer}, nil)) > 0
	}
	if !proven {
		return nil
	}
	return out
}
