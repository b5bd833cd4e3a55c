package linux

import (
	"strconv"
	"strings"

	"fulmen/native"
)

// thunderbolt reads the bus. It is nil with the reason where the kernel shows
// none.
func (t tree) thunderbolt() (*native.Thunderbolt, native.Reason) {
	if !t.hasThunderbolt() {
		return nil, noThunderbolt()
	}
	bus := t.thunderboltBus()
	out := &native.Thunderbolt{Ports: []native.Port{}}
	for _, r := range bus.hostPorts() {
		out.Ports = append(out.Ports, bus.port(r))
	}
	if len(out.Ports) == 0 {
		out.Ports = nil
		if len(bus.hosts) == 0 {
			// Some before USB4 are switched off while nothing is plugged in.
			out.Unknown.Add("ports", native.ReasonNoHardware.With("no Thunderbolt controller is present and switched on"))
		} else {
			out.Unknown.Add("ports", native.ReasonNoOS.With("a controller older than USB4 shows a port only while it is in use"))
		}
	}
	return out, ""
}

// noThunderbolt is why the area is absent where the kernel has no such bus.
func noThunderbolt() native.Reason {
	return native.ReasonNoHardware.With("Linux finds no Thunderbolt controller")
}

func (b thunderboltBus) port(r hostPort) native.Port {
	p := native.Port{PortNumber: r.number, Hubs: []native.Hub{}, Peers: []native.Peer{}}
	p.DomainUUID = b.uuid(r.host, &p.Unknown)
	if r.folder != "" {
		p.Place = b.tree.connectorPlace(r.folder + "connector/")
	}
	if p.Place == "" {
		p.Unknown.Add("place", native.ReasonNoOS.With("the firmware does not say"))
	}
	var interfaces []string
	for _, d := range b.routers {
		if r.leads(d) {
			p.Hubs = append(p.Hubs, b.hub(d))
		}
	}
	for _, d := range b.peers {
		if r.leads(d) {
			p.Peers = append(p.Peers, b.peer(d))
			interfaces = append(interfaces, b.interfaces(d)...)
		}
	}
	b.status(r, &p)
	switch len(interfaces) {
	case 0:
		p.Unknown.Add("interface", native.ReasonNotConnected.With("Linux creates one for each peer when it is connected"))
	case 1:
		p.Interface = interfaces[0]
	default:
		p.Unknown.Add("interface", native.ReasonNoOS.With("several peers each have one: "+strings.Join(interfaces, ", ")))
	}
	capability, why := b.capability(r.host, p.Negotiated)
	native.Put(&p.Capability, &p.Unknown, "capability", capability, why)
	return p
}

// status says what the socket holds, and what was negotiated with it.
func (b thunderboltBus) status(r hostPort, p *native.Port) {
	switch {
	case len(p.Peers) > 0:
		p.Status = native.PortPeer
	case len(p.Hubs) > 0:
		p.Status = native.PortDevice
	default:
		why := b.idle(r)
		if why == "" {
			p.Status, p.Negotiated = native.PortEmpty, &native.Link{State: native.LinkDown}
			return
		}
		p.Unknown.Add("status", why)
		p.Unknown.Add("negotiated", why)
		return
	}
	var first *native.Link
	why := native.ReasonSourceGone.With("Linux does not report the link of the first hop")
	for _, hub := range p.Hubs {
		if hub.Parent == "" {
			first, why = hub.Negotiated, hub.Unknown["negotiated"]
		}
	}
	for _, peer := range p.Peers {
		if peer.Hub == "" {
			first, why = peer.Negotiated, peer.Unknown["negotiated"]
		}
	}
	if first == nil {
		p.Unknown.Add("negotiated", why)
		return
	}
	p.Negotiated = new(*first)
}

// idle is why a socket below which nothing is listed cannot be called empty.
func (b thunderboltBus) idle(r hostPort) native.Reason {
	link, err := b.tree.text(r.folder + "link")
	switch {
	case err != nil:
		return reason("link", err, native.ReasonNoOS.With("Linux does not report the state of the port"))
	case link == "none":
		return ""
	case link == "usb4" || link == "tbt":
		return native.ReasonNotYetRead.With("a link is up, but what is connected has not identified itself")
	}
	return reason("link", malformedError(link), "")
}

// capability is what the host's router is. Which rates its lanes could have the
// kernel does not say, so that of a USB4 2.0 port it is known only while a link
// has the highest.
func (b thunderboltBus) capability(host thunderboltDevice, negotiated *native.Link) (native.ThunderboltVersion, native.Reason) {
	if negotiated != nil && negotiated.Generation == native.Gen4 {
		return native.TB5, ""
	}
	generation, err := b.tree.number(host.folder() + "generation")
	if err != nil {
		return "", reason("generation", err, native.ReasonNoOS.With("Linux does not report the generation of the controller"))
	}
	switch generation {
	case 1, 2:
		return "", native.ReasonNoHardware.With("Thunderbolt " + strconv.FormatInt(generation, 10))
	case 3:
		return native.TB3, ""
	case 4:
		switch version := b.tree.uevent(host.folder())["USB4_VERSION"]; version {
		case "1.0":
			return native.TB4, ""
		case "2.0":
			return "", native.ReasonNoOS.With("whether the lanes of a USB4 2.0 port can run at 40 Gb/s shows only when a link does")
		case "":
			return "", native.ReasonNoOS.With("Linux does not report the USB4 version of the controller")
		default:
			return "", reason("uevent", malformedError(version), "")
		}
	}
	return "", reason("generation", malformedError(strconv.FormatInt(generation, 10)), "")
}

// connectorPlace is where a connector is on the case, as the firmware says:
// the side, and the place on it where that is not the middle. "" is not told.
func (t tree) connectorPlace(folder string) string {
	side, _ := t.text(folder + "physical_location/panel")
	switch side {
	case "top", "bottom", "left", "right", "front", "back":
	default:
		return ""
	}
	if place, _ := t.text(folder + "physical_location/horizontal_position"); place == "left" || place == "right" {
		side += "-" + place
	}
	if place, _ := t.text(folder + "physical_location/vertical_position"); place == "upper" || place == "lower" {
		side += "-" + place
	}
	return side
}
