package linux

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"
)

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
	route  thunderboltRoute
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
		return cmp.Or(cmp.Compare(a.domain, b.domain), a.route.compare(b.route))
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

// receptacle is one socket of a controller.
type receptacle struct {
	number   int
	host     thunderboltDevice
	adapters [2]int // the first and last of its lanes' adapters
	folder   string // of its own; "" before USB4, where the kernel shows none
}

// leads reports whether what has the route hangs on it.
func (r receptacle) leads(d thunderboltDevice) bool {
	return d.domain == r.host.domain && r.adapters[0] <= d.route.adapter() && d.route.adapter() <= r.adapters[1]
}

// receptacles numbers the sockets from 1: controller by controller by their
// place, and within one by their adapters. Nothing on Linux prints a number on
// the case, so this one is made, of what does not change while the hardware is
// the same. Of a controller before USB4 the kernel shows no sockets: those in
// use are listed, and it counts as two, which no such controller exceeds, with
// two adapters each.
func (b thunderboltBus) receptacles() []receptacle {
	var all []receptacle
	next := 1
	for _, host := range b.hosts {
		if ports := b.ports(host, next); ports != nil {
			all = append(all, ports...)
			next += len(ports)
			continue
		}
		for pair := range 2 {
			r := receptacle{number: next + pair, host: host, adapters: [2]int{2*pair + 1, 2*pair + 2}}
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
func (b thunderboltBus) ports(host thunderboltDevice, first int) []receptacle {
	var adapters []int
	for _, name := range b.tree.names(strings.TrimSuffix(host.folder(), "/")) {
		if rest, ok := strings.CutPrefix(name, "usb4_port"); ok {
			if n, err := strconv.ParseUint(rest, 10, 6); err == nil && n > 0 {
				adapters = append(adapters, int(n))
			}
		}
	}
	slices.Sort(adapters)
	var ports []receptacle
	for i, adapter := range adapters {
		last := 0x3f
		if i+1 < len(adapters) {
			last = adapters[i+1] - 1
		}
		ports = append(ports, receptacle{
			number: first + i, host: host, adapters: [2]int{adapter, last},
			folder: host.folder() + "usb4_port" + strconv.Itoa(adapter) + "/",
		})
	}
	return ports
}

// receptacleOfInterface gives the socket to whose peer each network interface
// leads.
func (b thunderboltBus) receptacleOfInterface() map[string]int {
	behind := map[string]int{}
	for _, r := range b.receptacles() {
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
