package systemprofiler

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"fulmen/native"
	"fulmen/native/networksetup"
)

var (
	portNumberTag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^receptacle_([1-9][0-9]{0,2})_tag$`) })
	busName       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^thunderbolt(?:usb4)?_bus_([0-9]{1,2})$`) })
)

// maxPortNumber is above what any Mac has; the API ends there.
const maxPortNumber = 255

// tagsOf returns the receptacle tags of a router by number.
func tagsOf(o object) []string {
	tags := slices.DeleteFunc(slices.Collect(maps.Keys(o.fields)), func(key string) bool { return !portNumberTag().MatchString(key) })
	slices.SortFunc(tags, func(a, b string) int { return cmp.Or(len(a)-len(b), cmp.Compare(a, b)) })
	return tags
}

// bus reads one controller and adds its ports: one on Apple silicon, two on
// Macs with Intel processors.
func (p *parser) bus(index int, entry any) {
	o, ok := object{at: DataType, notes: p.notes}.below(fmt.Sprint(index), entry)
	if !ok {
		return
	}
	name, why := o.text("_name")
	if why == "" {
		o.at = fmt.Sprintf("%.40q", name)
	}
	if hardware, _ := o.fields["Thunderbolt"].(string); hardware == "no_hardware" {
		return // a Mac without Thunderbolt: no ports
	}
	o.noteOthers(true, "_items", "_name", "device_name_key", "domain_uuid_key", "route_string_key", "switch_uid_key", "vendor_name_key")
	var routerVersion uint32
	switch {
	case strings.HasPrefix(name, "thunderboltusb4_bus"):
		routerVersion = native.RouterUSB4v1 // at least
	case strings.HasPrefix(name, "thunderbolt_bus"):
		routerVersion = native.RouterTB3
	}
	domain, domainWhy := o.uuid("domain_uuid_key")
	var ports []*busPort
	for _, tag := range tagsOf(o) {
		if below, ok := o.below(tag, o.fields[tag]); ok {
			ports = append(ports, p.port(below, name, routerVersion))
		}
	}
	if len(ports) == 0 {
		o.notes.Add("%s: it lists no port", o.at)
		ports = append(ports, p.port(object{at: o.at, notes: o.notes}, name, routerVersion))
	}
	items := p.items(o)
	for _, port := range ports {
		native.Put(&port.DomainUUID, &port.Unknown, "domain_uuid", domain, domainWhy)
		switch owner, why := portOf(ports, items); {
		case why != "":
			port.attach(o, below{why: why})
		case owner == port:
			port.attach(o, items)
		default:
			port.attach(o, nothing())
		}
		if port.PortNumber > 0 {
			p.ports = append(p.ports, port.Port)
		} else {
			o.notes.Add("%s: a port without a number is ignored", o.at)
		}
	}
}

// portOf says which of a bus's ports its devices hang on. With two receptacles
// it is told only when one of them is in use.
func portOf(ports []*busPort, items below) (*busPort, native.Reason) {
	if len(ports) == 1 || items.empty() {
		return ports[0], ""
	}
	inUse := slices.DeleteFunc(slices.Clone(ports), func(p *busPort) bool { return p.side.connected == nil || !*p.side.connected })
	if len(inUse) != 1 {
		return nil, native.ReasonNoOS.With("several ports share this bus, and system_profiler does not say to which of them a device is connected")
	}
	return inUse[0], ""
}

// busPort is a port with what its tag said.
type busPort struct {
	native.Port
	side portItem
}

// port reads a receptacle's tag. The receptacle is the number it gives; without
// one it is the bus's plus one, which is so in every recording, and noted.
func (p *parser) port(tag object, bus string, routerVersion uint32) *busPort {
	port := &busPort{side: readPortItem(tag)}
	number, why := tag.number("receptacle_id_key")
	if why == "" && (number == 0 || number > maxPortNumber) {
		why = tag.malformed("receptacle_id_key", fmt.Sprintf("is %d", number))
	}
	if match := busName().FindStringSubmatch(bus); why != "" && match != nil {
		n, _ := strconv.Atoi(match[1])
		tag.notes.Add("%s: port number %d is taken from the number of the bus", tag.at, n+1)
		number, why = uint32(n+1), ""
	}
	if why == "" {
		port.PortNumber = int(number)
	}
	capability, why := port.side.capability(routerVersion)
	native.Put(&port.Capability, &port.Unknown, "capability", capability, why)
	port.Unknown.Add("place", native.ReasonNoOS.With("system_profiler does not report places"))
	port.Unknown.Add("interface", native.ReasonNoOS.With("system_profiler does not report interfaces; networksetup does"))
	return port
}

// attach hangs the devices on the port.
func (p *busPort) attach(bus object, items below) {
	if items.why != "" {
		for _, field := range []string{"status", "hubs", "peers"} {
			p.Unknown.Add(field, items.why)
		}
	} else {
		p.Hubs, p.Peers = items.hubs, items.peers
		status, why := p.status(bus, items)
		native.Put(&p.Status, &p.Unknown, "status", status, why)
	}
	link, why := p.side.link(items.firstMode)
	native.Put(&p.Negotiated, &p.Unknown, "negotiated", link, why)
	if why.Key() == native.ReasonSourcesDisagree.Key() {
		bus.notes.Add("%s: port %d: %s", bus.at, p.PortNumber, why.Detail())
	}
	p.firstHop(bus, items.direct)
}

// firstHop gives the devices that are plugged into the port itself its link,
// which is the same cable.
func (p *busPort) firstHop(bus object, direct int) {
	if direct > 1 {
		bus.notes.Add("%s: %d devices in one port", bus.at, direct)
	}
	for i := range p.Hubs {
		hub := &p.Hubs[i]
		switch {
		case hub.Parent != "":
		case hub.Negotiated == nil && p.Negotiated != nil:
			hub.Negotiated = p.Negotiated
			delete(hub.Unknown, "negotiated")
		case hub.Negotiated != nil && p.Negotiated != nil && hub.Negotiated.Speed() != p.Negotiated.Speed():
			bus.notes.Add("%s: the ends of the cable to route %s say %s and %s", bus.at, hub.Route, p.Negotiated.Speed(), hub.Negotiated.Speed())
		}
	}
	for i := range p.Peers {
		if peer := &p.Peers[i]; peer.Hub == "" {
			native.Put(&peer.Negotiated, &peer.Unknown, "negotiated", p.Negotiated, p.Unknown["negotiated"])
		}
	}
}

// status goes by what is listed; what the receptacle says is noted where it
// disagrees.
func (p *busPort) status(bus object, items below) (native.PortStatus, native.Reason) {
	connected := p.side.connected
	status := native.PortEmpty
	switch {
	case len(items.peers) > 0:
		status = native.PortPeer
	case len(items.hubs) > 0:
		status = native.PortDevice
	case items.odd:
		return "", native.ReasonSourceMalformed.With("what is connected is listed but could not be read")
	case connected == nil:
		return "", p.side.statusWhy
	case *connected:
		return "", native.ReasonNoOS.With("something is connected that is not listed")
	}
	if connected != nil && !*connected && status != native.PortEmpty {
		bus.notes.Add("%s: port %d says that nothing is connected, but a device is listed", bus.at, p.PortNumber)
	}
	return status, ""
}

// The tags of a device's side towards the host. Only the first was recorded.
const (
	upstreamAmbiguous = "receptacle_upstream_ambiguous_tag"
	upstream          = "receptacle_upstream_tag"
)

// downstream is a router's side away from the host: what its receptacles in use
// negotiated. Which device hangs on which receptacle is not told.
type downstream struct {
	sides    []portItem
	reported bool // false for the host, whose port gives the link
}

func downstreamOf(o object) downstream {
	d := downstream{reported: true}
	for _, tag := range tagsOf(o) {
		if at, ok := o.below(tag, o.fields[tag]); ok {
			if side := readPortItem(at); side.connected != nil && *side.connected {
				d.sides = append(d.sides, side)
			}
		}
	}
	return d
}

// without leaves out a receptacle for each router below that tells its own link:
// what remains is for the devices that do not, such as computers.
func (d downstream) without(o object, items []any) downstream {
	d.sides = slices.Clone(d.sides)
	for _, entry := range items {
		fields, _ := entry.(map[string]any)
		tag, _ := fields[upstreamAmbiguous].(map[string]any)
		if tag == nil {
			continue
		}
		port := readPortItem(object{at: o.at, fields: tag, notes: &networksetup.Notes{}}) // noted where it is read in full
		if i := slices.IndexFunc(d.sides, func(side portItem) bool { return side.speedWhy == "" && side.speed == port.speed }); i >= 0 {
			d.sides = slices.Delete(d.sides, i, i+1)
		}
	}
	return d
}

// link is the link of every device below the router, where all receptacles in use
// agree, so that it does not matter which one it hangs on.
func (d downstream) link(mode string) (*native.Link, native.Reason) {
	if len(d.sides) == 0 {
		return nil, native.ReasonNoOS.With("system_profiler does not report the speed of this hop")
	}
	first, why := d.sides[0].link(mode)
	for _, side := range d.sides[1:] {
		link, _ := side.link(mode)
		if link == nil || first == nil || *link != *first {
			return nil, native.ReasonNoOS.With("several ports of the hub are in use, and system_profiler does not say which of them this is")
		}
	}
	return first, why
}

func (w *walk) hub(o object, parent string, above downstream, depth int) {
	hub := native.Hub{Route: w.route(o, parent), Parent: parent}
	vendor, why := o.text("vendor_name_key")
	native.Put(&hub.Vendor, &hub.Unknown, "vendor", vendor, why)
	name, why := o.text("device_name_key")
	if why != "" && o.has("_name") {
		name, why = o.text("_name")
	}
	native.Put(&hub.Name, &hub.Unknown, "name", name, why)
	mode := ""
	if o.has("mode_key") {
		mode, _ = o.text("mode_key")
	}
	if depth == 0 && w.direct == 1 {
		w.firstMode = mode
	}
	link, why := w.upstreamLink(o, mode, above)
	native.Put(&hub.Negotiated, &hub.Unknown, "negotiated", link, why)
	w.hubs = append(w.hubs, hub)
	items, why := o.list("_items")
	if why != "" {
		w.odd = true
	}
	w.list(o, items, hub.Route, downstreamOf(o), depth+1)
}

// upstreamLink is the hub's link towards the host, by its own word or else by
// that of the router above.
func (w *walk) upstreamLink(o object, mode string, above downstream) (*native.Link, native.Reason) {
	why := missing(upstreamAmbiguous)
	for _, tag := range []string{upstreamAmbiguous, upstream} {
		if !o.has(tag) {
			continue
		}
		at, ok := o.below(tag, o.fields[tag])
		if !ok {
			why = native.ReasonSourceMalformed.With(tag)
			continue
		}
		link, linkWhy := readPortItem(at).link(mode)
		if linkWhy == "" {
			return link, ""
		}
		why = linkWhy
	}
	if above.reported {
		if link, aboveWhy := above.link(mode); aboveWhy == "" {
			return link, ""
		}
	}
	return nil, why
}

// route reads a router's place. Everything below it refers to it, so a router
// without one gets a made-up name that is no route, and a note.
func (w *walk) route(o object, parent string) string {
	text, why := o.text("route_string_key")
	route := ""
	if why == "" {
		n, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(text), "0x"), 16, 64)
		route = native.Route(n).String()
		switch {
		case err != nil || n == 0:
			why = o.malformed("route_string_key", fmt.Sprintf("is %.40q and not a route", text))
		case slices.ContainsFunc(w.hubs, func(h native.Hub) bool { return h.Route == route }):
			why = o.malformed("route_string_key", fmt.Sprintf("is %.40q, which another hub has too", text))
		case native.Route(n).Parent().String() != parent && isRoute(parent):
			o.notes.Add("%s: route %s does not lie below %q, where it is listed", o.at, route, parent)
		}
	}
	if why == "" {
		return route
	}
	w.unnamed++
	o.notes.Add("%s: the hub has no route of its own; it is called ?%d here", o.at, w.unnamed)
	return fmt.Sprintf("?%d", w.unnamed)
}
