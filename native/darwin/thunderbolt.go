package darwin

import (
	"bytes"
	"cmp"
	"encoding/binary"
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
	kindRDMAPeer   = "AppleThunderboltRDMAPeerInterface"
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
	slices.SortStableFunc(out.Ports, func(a, b native.Port) int { return cmp.Compare(a.PortNumber, b.PortNumber) })
	// Two controllers that claim one receptacle: the first keeps it.
	out.Ports = slices.CompactFunc(out.Ports, func(a, b native.Port) bool { return a.PortNumber == b.PortNumber })
	return out
}

// socketParts is what a controller has of one receptacle.
type socketParts struct {
	number int
	lanes  []*entry
	ip     *entry // the network port; nil where there is none
	links  []link
}

// portsOf tells a controller's receptacles: one on Apple silicon, two on older
// ones. The lanes of one receptacle share its number.
func portsOf(t tree, controller *entry, places map[string]string) []native.Port {
	parts := map[int]*socketParts{}
	part := func(n int) *socketParts {
		if parts[n] == nil {
			parts[n] = &socketParts{number: n}
		}
		return parts[n]
	}
	for _, host := range t.under(controller, []string{kindSwitch}, []string{kindSwitch}) {
		for _, lane := range t.children(host, kindPort) {
			if n, ok := socket(lane); ok && isLane(lane) {
				part(n).lanes = append(part(n).lanes, lane)
			}
		}
	}
	for _, ip := range t.under(controller, []string{kindIPPort}, []string{kindIPPort, kindSwitch}) {
		if n, ok := portNumber(ip.properties["IOLocation"]); ok {
			part(n).ip = ip // also where its lanes are not there (yet)
		}
	}
	peers := newPeers(t, controller, parts)
	var ports []native.Port
	for _, own := range parts {
		ports = append(ports, portOf(t, controller, own, peers, places))
	}
	return ports
}

func portOf(t tree, controller *entry, own *socketParts, peers *peers, places map[string]string) native.Port {
	p := native.Port{PortNumber: own.number, Status: native.PortEmpty, Hubs: []native.Hub{}, Peers: []native.Peer{}}
	setDomain(t, controller, &p)
	if place, ok := placeOf(controller, places); ok {
		p.Place = place
	} else {
		p.Unknown.Add("place", native.ReasonNoOS.With("the device tree does not say"))
	}
	setInterface(t, own.ip, &p)
	if len(own.lanes) == 0 {
		gone := native.ReasonSourceGone.With("the registry has no lane of this port")
		p.Status = ""
		p.Hubs, p.Peers = nil, nil
		for _, field := range []string{"capability", "status", "negotiated", "hubs", "peers"} {
			p.Unknown.Add(field, gone)
		}
		return p
	}
	slices.SortFunc(own.lanes, func(a, b *entry) int { return cmp.Compare(laneNumber(a), laneNumber(b)) })
	setCapability(t, own.lanes[0], &p)
	for _, lane := range own.lanes {
		addHubs(t, lane, "", &p)
	}
	if p.Unknown["hubs"] != "" {
		p.Hubs = nil // others may hang from the one that is not told
	}
	peers.add(own, &p)
	// Nearest first, whatever the order of the ports that they hang from.
	slices.SortStableFunc(p.Hubs, func(a, b native.Hub) int { return cmp.Compare(len(a.Route), len(b.Route)) })
	slices.SortStableFunc(p.Peers, func(a, b native.Peer) int { return cmp.Compare(len(a.Hub), len(b.Hub)) })
	if p.Status == native.PortEmpty {
		// An idle port can keep its lanes trained: that is no link with anything.
		p.Negotiated = &native.Link{State: native.LinkDown}
		return p
	}
	own.setLink(t, &p.Negotiated, &p.Unknown)
	return p
}

// setLink takes the link of the cable in the receptacle, or says why it is not known.
func (own *socketParts) setLink(t tree, into **native.Link, unknown *native.Reasons) {
	link, why := linkOf(carrier(t, own.lanes))
	if up, _ := isLinked(own.ip); up && why == "" && link.State == native.LinkDown {
		why = native.ReasonSourcesDisagree.With("the lanes are down, but the network link over them is up")
	}
	native.Put(into, unknown, "negotiated", link, why)
}

// carrier is the lane of a receptacle that tells of the cable's link: the last that
// a router or a computer hangs from, else the first that is trained.
func carrier(t tree, lanes []*entry) *entry {
	for _, lane := range slices.Backward(lanes) {
		if len(t.under(lane, []string{kindSwitch, kindPeer}, []string{kindSwitch, kindPeer})) > 0 {
			return lane
		}
	}
	if i := slices.IndexFunc(lanes, isTrained); i >= 0 {
		return lanes[i]
	}
	return lanes[0]
}

func isTrained(lane *entry) bool {
	link, why := linkOf(lane)
	return why == "" && link.State == native.LinkUp
}

// addHubs tells the routers that hang from a lane; route is that of the hub it is a
// port of, "" for this Mac's own.
func addHubs(t tree, lane *entry, route string, p *native.Port) {
	for _, hub := range t.under(lane, []string{kindSwitch}, []string{kindSwitch}) {
		p.Status = native.PortDevice
		h, ok := hubOf(hub, lane, route)
		if !ok || slices.ContainsFunc(p.Hubs, func(other native.Hub) bool { return other.Route == h.Route }) {
			// Without its route nothing can be said to hang from it.
			p.Unknown.Add("hubs", native.ReasonSourceMalformed.With("the registry gives a hub no route of its own"))
			continue
		}
		p.Hubs = append(p.Hubs, h)
		for _, port := range t.children(hub, kindPort) {
			addHubs(t, port, h.Route, p)
		}
	}
}

// routeOf is the route of a hub, which this Mac's own routers have none of.
func routeOf(hub *entry) (string, bool) {
	route, ok := hub.number("Route String")
	depth, isHub := hub.number("Depth")
	return native.Route(route).String(), ok && route != 0 && (!isHub || depth != 0)
}

func hubOf(hub, lane *entry, parent string) (native.Hub, bool) {
	route, ok := routeOf(hub)
	if !ok {
		return native.Hub{}, false
	}
	h := native.Hub{Route: route, Parent: parent}
	setText(hub, "Device Vendor Name", &h.Vendor, &h.Unknown, "vendor")
	setText(hub, "Device Model Name", &h.Name, &h.Unknown, "name")
	setLink(lane, &h.Negotiated, &h.Unknown)
	return h, true
}

func setDomain(t tree, controller *entry, p *native.Port) {
	for _, node := range t.under(controller, []string{kindLocalNode}, []string{kindLocalNode, kindSwitch}) {
		setText(node, "Domain UUID", &p.DomainUUID, &p.Unknown, "domain_uuid")
		return
	}
	p.Unknown.Add("domain_uuid", native.ReasonSourceGone.With("the registry has no local node"))
}

// setInterface reads which interface belongs to the receptacle; it is never
// computed.
func setInterface(t tree, ip *entry, p *native.Port) {
	if i := portInterface(t, ip); i != nil {
		setText(i, "BSD Name", &p.Interface, &p.Unknown, "interface")
		return
	}
	p.Unknown.Add("interface", native.ReasonSourceGone.With("the registry has no network interface of this port"))
}

// portInterface is the interface of a network port: the IOEthernetInterface, else what
// has an interface's name. It is nil where there is none.
func portInterface(t tree, ip *entry) *entry {
	if ip == nil {
		return nil
	}
	if found := t.under(ip, []string{kindInterface}, []string{kindInterface}); len(found) > 0 {
		return found[0]
	}
	for _, other := range t.under(ip, []string{""}, nil) {
		if _, named := other.text("BSD Name"); named {
			return other
		}
	}
	return nil
}

func setCapability(t tree, lane *entry, p *native.Port) {
	speeds, ok := lane.number("Supported Link Speed")
	version, _ := lane.number("Thunderbolt Version")
	if above := t.above(lane); len(above) > 0 {
		router := above[0]
		if of, reported := router.number("Thunderbolt Version"); reported {
			version = of
		}
		if of, reported := router.number("Supported Link Speed"); reported && !ok {
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
	native.Put(into, unknown, "negotiated", link, why)
}

func linkOf(lane *entry) (*native.Link, native.Reason) {
	speed, hasSpeed := lane.number("Current Link Speed")
	width, hasWidth := lane.number("Current Link Width")
	if !hasSpeed || !hasWidth {
		return nil, native.ReasonSourceMalformed.With("the registry gives a lane no speed or width")
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

// isLane reports whether a router's port is one end of a cable's lane. Intel's
// routers number their adapters otherwise, hence the words.
func isLane(port *entry) bool {
	kind, ok := port.number("Adapter Type")
	words, _ := port.text("Description")
	return ok && kind == adapterLane || words == "Thunderbolt Port"
}

// socket is the number of the receptacle that a host's lane belongs to.
func socket(lane *entry) (int, bool) { return portNumber(lane.properties["Socket ID"]) }

// portNumber reads the number of a receptacle, which the registry has as a text.
func portNumber(value any) (int, bool) {
	switch v := value.(type) {
	case string:
		n, err := strconv.Atoi(v)
		return n, err == nil && n > 0 && n < 100
	case int64:
		return int(v), v > 0 && v < 100
	}
	return 0, false
}

// laneNumber orders the lanes of a receptacle: the first holds what is attached.
func laneNumber(lane *entry) uint32 {
	if n, ok := lane.number("Lane"); ok {
		return n
	}
	n, _ := lane.number("Port Number")
	return n
}

// placeOf is where on the case a controller's receptacle is. The controller's
// node of the device tree has a handle, by which the node that knows the place
// names it.
func placeOf(controller *entry, places map[string]string) (string, bool) {
	handle, ok := handleOf(controller.properties["^AAPL,phandle"])
	if !ok {
		return "", false
	}
	place, ok := places[handle]
	return place, ok
}

// handleOf reads a handle of the device tree: four bytes, little-endian.
func handleOf(value any) (string, bool) {
	b, ok := value.([]byte)
	if !ok || len(b) != 4 {
		return "", false
	}
	return strconv.FormatUint(uint64(binary.LittleEndian.Uint32(b)), 16), true
}

// placesOf reads the nodes that know places: each names the controller that it
// serves.
func placesOf(nodes []entry) map[string]string {
	places := map[string]string{}
	for i := range nodes {
		handle, ok := handleOf(nodes[i].properties["acio-parent"])
		place := dataText(nodes[i].properties["port-location"])
		if ok && place != "" {
			places[handle] = place
		}
	}
	return places
}

// dataText is a text of the device tree, which is data with a closing zero.
func dataText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []byte:
		text, _, _ := bytes.Cut(v, []byte{0})
		return string(text)
	}
	return ""
}

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
			why = native.ReasonSourceMalformed.With("the link of a computer belongs to none of the hubs")
		}
		port.Peers = append(port.Peers, p.peerOf(own, l, route))
	}
	up, reported := isLinked(own.ip)
	switch {
	case len(own.links) > 0:
	case up:
		port.Status = native.PortPeer // networking over Thunderbolt is with computers alone
		why = cmp.Or(why, native.ReasonSourcesDisagree.With("the network link is up, but the registry has no computer at its end"))
	case p.astray:
		why = cmp.Or(why, native.ReasonSourceMalformed.With("the link of a computer belongs to none of the ports"))
	case !reported && port.Status == native.PortEmpty && slices.ContainsFunc(own.lanes, isTrained):
		why = native.ReasonSourceGone.With("a lane is in use, but the registry does not say what is at its other end")
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
func isLinked(ip *entry) (up, reported bool) {
	if ip == nil {
		return false, false
	}
	status, reported := ip.number("IOLinkStatus")
	return status&3 == 3, reported
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
		out.Unknown.Add("negotiated", native.ReasonSourceGone.With("the computer's link belongs to no port of its hub"))
	}
	services, why := p.servicesOf(l.peer)
	native.Put(&out.Services, &out.Unknown, "services", services, why)
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
		version, reported := service.number("Protocol Version")
		if !ok || !reported {
			return nil, native.ReasonSourceMalformed.With("the registry gives a service no protocol")
		}
		out = append(out, native.PeerService{ProtocolID: id, Version: version})
	}
	if len(out) == 0 {
		return nil, native.ReasonSourceGone.With("the registry lists no service of this computer, not even networking")
	}
	offered := slices.ContainsFunc(out, func(s native.PeerService) bool { return s.ProtocolID == native.ProtocolRDMA })
	if !offered && len(p.rdmaOffers(peer)) > 0 {
		return nil, native.ReasonSourcesDisagree.With("RDMA is in use with this computer, but is not among its services")
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
