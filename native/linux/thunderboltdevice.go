package linux

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"fulmen/native"
)

// hub reads a router below the host's.
func (b thunderboltBus) hub(d thunderboltDevice) native.Hub {
	h := native.Hub{Route: d.route.String(), Parent: d.route.Parent().String()}
	h.Vendor = b.label(d, "vendor_name", "vendor", &h.Unknown)
	h.Name = b.label(d, "device_name", "name", &h.Unknown)
	// The kernel tells the link as the router's upstream adapter sees it: what
	// that sends goes to this machine.
	h.Negotiated = b.negotiated(d, "rx", "tx", &h.Unknown)
	return h
}

// peer reads a computer.
func (b thunderboltBus) peer(d thunderboltDevice) native.Peer {
	p := native.Peer{Hub: d.route.Parent().String()}
	p.DomainUUID = b.uuid(d, &p.Unknown)
	p.Vendor = b.label(d, "vendor_name", "vendor", &p.Unknown)
	p.Name = b.label(d, "device_name", "name", &p.Unknown)
	// Unlike a router's, a peer's link is told as the near end sees it.
	p.Negotiated = b.negotiated(d, "tx", "rx", &p.Unknown)
	services, err := b.peerServices(d)
	if err != nil {
		p.Unknown.Add("services", reason("service", err, native.ReasonSourceGone))
		return p
	}
	p.Services = services
	return p
}

func (b thunderboltBus) peerServices(d thunderboltDevice) ([]native.PeerService, error) {
	services := []native.PeerService{}
	for _, name := range b.services[d.name] {
		protocol, err := b.tree.unsigned(thunderboltFolder + name + "/prtcid")
		if err != nil {
			return nil, err
		}
		version, err := b.tree.unsigned(thunderboltFolder + name + "/prtcvers")
		if err != nil {
			return nil, err
		}
		services = append(services, native.PeerService{ProtocolID: protocol, Version: version})
	}
	return services, nil
}

// unsigned reads a file that holds one decimal number of 32 bits.
func (t tree) unsigned(name string) (uint32, error) {
	n, err := t.number(name)
	if err == nil && (n < 0 || n > math.MaxUint32) {
		err = malformedError(strconv.FormatInt(n, 10))
	}
	return uint32(n), err
}

// interfaces are the network interfaces that lead to a peer: one below its
// service for networking, once that has a driver.
func (b thunderboltBus) interfaces(d thunderboltDevice) []string {
	var names []string
	for _, service := range b.services[d.name] {
		names = append(names, b.tree.names(thunderboltFolder+service+"/net")...)
	}
	return names
}

// uuid reads the number of a peer's domain; of a host's router it is that of
// its own domain, the one by which peers know this machine. All sockets of a
// controller share it.
func (b thunderboltBus) uuid(d thunderboltDevice, unknown *native.Reasons) string {
	text, err := b.tree.text(d.folder() + "unique_id")
	if err == nil && !native.IsUUID(text) {
		err = malformedError(text)
	}
	if err != nil {
		unknown.Add("domain_uuid", reason("unique_id", err, native.ReasonSourceGone))
		return ""
	}
	return strings.ToLower(text)
}

// mostLabel bounds a name in characters; it is the other end that chose it.
const mostLabel = 128

// label reads a name that the other end chose.
func (b thunderboltBus) label(d thunderboltDevice, file, field string, unknown *native.Reasons) string {
	text, err := b.tree.text(d.folder() + file)
	if err != nil {
		unknown.Add(field, reason(file, err, native.ReasonNoOS.With("it does not say")))
		return ""
	}
	characters := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD")))
	label := strings.TrimSpace(string(characters[:min(len(characters), mostLabel)]))
	if label == "" {
		unknown.Add(field, native.ReasonNoOS.With("it does not say"))
	}
	return label
}

// negotiated reads a link. away and towards say which of the kernel's
// directions leads away from this machine.
func (b thunderboltBus) negotiated(d thunderboltDevice, away, towards string, unknown *native.Reasons) *native.Link {
	link, err := b.tree.thunderboltLink(d.folder(), away, towards)
	if err != nil {
		unknown.Add("negotiated", reason("link", err, native.ReasonNoOS.With("Linux does not report it")))
		return nil
	}
	return &link
}

func (t tree) thunderboltLink(folder, away, towards string) (native.Link, error) {
	var speeds, lanes [2]int64
	for i, direction := range []string{away, towards} {
		text, err := t.text(folder + direction + "_speed")
		if err != nil {
			return native.Link{}, err
		}
		speed, err := native.ParseLinkSpeed(text)
		if err != nil || speed.UpTo || speed.TxBitsPerS != speed.RxBitsPerS {
			return native.Link{}, malformedError(text)
		}
		speeds[i] = speed.TxBitsPerS
		if lanes[i], err = t.number(folder + direction + "_lanes"); err != nil {
			return native.Link{}, err
		}
	}
	if speeds[0] != speeds[1] {
		return native.Link{}, malformedError("lanes of two speeds")
	}
	if max(lanes[0], lanes[1]) > 3 {
		return native.Link{}, malformedError("more than three lanes")
	}
	link, err := native.LinkFromLanes(speeds[0], int(lanes[0]), int(lanes[1]))
	if err != nil {
		return native.Link{}, malformedError(err.Error())
	}
	return link, nil
}

// maxHops is how many hops a route can hold: the kernel keeps the highest byte
// for itself.
const maxHops = 7

// parseDeviceName reads the name of a router or a peer, "DOMAIN-ROUTE": decimal
// and hexadecimal, without leading zeros.
func parseDeviceName(name string) (domain int, route native.Route, ok bool) {
	first, second, _ := strings.Cut(name, "-")
	number, err := strconv.ParseUint(first, 10, 16)
	if err != nil {
		return 0, 0, false
	}
	way, err := strconv.ParseUint(second, 16, 64)
	if err != nil || fmt.Sprintf("%d-%x", number, way) != name {
		return 0, 0, false
	}
	route = native.Route(way)
	if route.Hops() > maxHops {
		return 0, 0, false
	}
	for hop := range route.Hops() {
		// An adapter's number has 6 bits, and 0 is no adapter.
		if adapter := route >> (8 * hop) & 0xff; adapter == 0 || adapter > 0x3f {
			return 0, 0, false
		}
	}
	return int(number), route, true
}

// parseServiceName reads the name of one of a peer's services, "PEER.NUMBER".
func parseServiceName(name string) (peer string, number int, ok bool) {
	peer, rest, _ := strings.Cut(name, ".")
	_, route, ok := parseDeviceName(peer)
	n, err := strconv.ParseUint(rest, 10, 16)
	if !ok || route == 0 || err != nil || strconv.FormatUint(n, 10) != rest {
		return "", 0, false
	}
	return peer, int(n), true
}

// thunderboltFolder is where the kernel lists the devices of all its Thunderbolt
// and USB4 domains. The names are links to folders elsewhere.
const thunderboltFolder = "sys/bus/thunderbolt/devices/"

// thunderboltBus is what hangs on the controllers. A domain is one controller,
// which may have several receptacles.
type thunderboltBus struct {
	tree     tree
	hosts    []thunderboltDevice // the controllers' own routers
	routers  []thunderboltDevice // hubs, docks and others, nearer ones first
	peers    []thunderboltDevice // computers, nearer ones first
	services map[string][]string // names of each peer's, by the peer's name
}

// thunderboltDevice is a router or a peer.
type thunderboltDevice struct {
	name   string // "0-301"
	domain int
	route  native.Route
}

func (d thunderboltDevice) folder() string { return thunderboltFolder + d.name + "/" }

// hasThunderbolt reports whether the kernel drives Thunderbolt at all.
func (t tree) hasThunderbolt() bool { return t.exists(strings.TrimSuffix(thunderboltFolder, "/")) }

// thunderboltBus lists the bus. What the kernel calls a router or a peer is one;
// domains, retimers and what went away meanwhile are left out.
func (t tree) thunderboltBus() thunderboltBus {
	bus := thunderboltBus{tree: t, services: map[string][]string{}}
	for _, name := range t.names(strings.TrimSuffix(thunderboltFolder, "/")) {
		if peer, _, ok := parseServiceName(name); ok {
			bus.services[peer] = append(bus.services[peer], name)
			continue
		}
		domain, route, ok := parseDeviceName(name)
		if !ok {
			continue
		}
		device := thunderboltDevice{name, domain, route}
		switch kind := t.uevent(device.folder())["DEVTYPE"]; {
		case kind == "thunderbolt_device" && route == 0:
			bus.hosts = append(bus.hosts, device)
		case kind == "thunderbolt_device":
			bus.routers = append(bus.routers, device)
		case kind == "thunderbolt_xdomain" && route != 0:
			bus.peers = append(bus.peers, device)
		}
	}
	nearer := func(a, b thunderboltDevice) int {
		return cmp.Or(cmp.Compare(a.domain, b.domain), cmp.Compare(a.route.Hops(), b.route.Hops()), cmp.Compare(a.route, b.route))
	}
	slices.SortFunc(bus.routers, nearer)
	slices.SortFunc(bus.peers, nearer)
	slices.SortFunc(bus.hosts, func(a, b thunderboltDevice) int {
		return cmp.Or(cmp.Compare(bus.place(a), bus.place(b)), cmp.Compare(a.domain, b.domain))
	})
	for _, names := range bus.services {
		slices.SortFunc(names, func(a, b string) int {
			_, m, _ := parseServiceName(a)
			_, n, _ := parseServiceName(b)
			return cmp.Compare(m, n)
		})
	}
	return bus
}

// place is where the domain's controller is among the machine's devices, such
// as its PCI address. Unlike the domain's number, which is given out as
// controllers answer, it is the same after every start. "" is not told.
func (b thunderboltBus) place(host thunderboltDevice) string {
	return path.Dir(b.tree.link(thunderboltFolder + "domain" + strconv.Itoa(host.domain)))
}

// uevent reads the variables that the kernel announces a device with.
func (t tree) uevent(folder string) map[string]string {
	data, _ := t.bytes(folder + "uevent")
	return parseShellVariables(data)
}

// hostPort is one socket of a controller.
type hostPort struct {
	number   int
	host     thunderboltDevice
	adapters [2]int // the first and last of its lanes' adapters
	folder   string // of its own; "" before USB4, where the kernel shows none
}

// leads reports whether what has the route hangs on it.
func (r hostPort) leads(d thunderboltDevice) bool {
	return d.domain == r.host.domain && r.adapters[0] <= d.route.Adapter() && d.route.Adapter() <= r.adapters[1]
}

// hostPorts numbers the sockets from 1: controller by controller by their
// place, and within one by their adapters. Nothing on Linux prints a number on
// the case, so this one is made, of what does not change while the hardware is
// the same. Of a controller before USB4 the kernel shows no sockets: those in
// use are listed, and it counts as two, which no such controller exceeds, with
// two adapters each.
func (b thunderboltBus) hostPorts() []hostPort {
	var all []hostPort
	next := 1
	for _, host := range b.hosts {
		if ports := b.ports(host, next); ports != nil {
			all = append(all, ports...)
			next += len(ports)
			continue
		}
		for pair := range 2 {
			r := hostPort{number: next + pair, host: host, adapters: [2]int{2*pair + 1, 2*pair + 2}}
			if slices.ContainsFunc(slices.Concat(b.routers, b.peers), r.leads) {
				all = append(all, r)
			}
		}
		next += 2
	}
	return all
}

// ports are the sockets of a USB4 controller, which are folders named after the
// adapter of their first lane.
func (b thunderboltBus) ports(host thunderboltDevice, first int) []hostPort {
	var adapters []int
	for _, name := range b.tree.names(strings.TrimSuffix(host.folder(), "/")) {
		if rest, ok := strings.CutPrefix(name, "usb4_port"); ok {
			if n, err := strconv.ParseUint(rest, 10, 6); err == nil && n > 0 {
				adapters = append(adapters, int(n))
			}
		}
	}
	slices.Sort(adapters)
	var ports []hostPort
	for i, adapter := range adapters {
		last := 0x3f
		if i+1 < len(adapters) {
			last = adapters[i+1] - 1
		}
		ports = append(ports, hostPort{
			number: first + i, host: host, adapters: [2]int{adapter, last},
			folder: host.folder() + "usb4_port" + strconv.Itoa(adapter) + "/",
		})
	}
	return ports
}

// portNumberOfInterface gives the socket to whose peer each network interface
// leads.
func (b thunderboltBus) portNumberOfInterface() map[string]int {
	behind := map[string]int{}
	for _, r := range b.hostPorts() {
		for _, peer := range b.peers {
			if !r.leads(peer) {
				continue
			}
			for _, name := range b.interfaces(peer) {
				behind[name] = r.number
			}
		}
	}
	return behind
}
