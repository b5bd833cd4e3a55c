package linux

import (
	"slices"

	"fulmen/native"
	"fulmen/native/sim/scenario"
)

// cable is plugged in; the speed is from its first end.
type cable struct {
	ends  [2]scenario.End
	speed native.LinkSpeed
}

// from gives the other end, and the speed as seen from this one.
func (c cable) from(end scenario.End) (far scenario.End, speed native.LinkSpeed, ok bool) {
	switch end {
	case c.ends[0]:
		return c.ends[1], c.speed, true
	case c.ends[1]:
		return c.ends[0], native.LinkSpeed{TxBitsPerS: c.speed.RxBitsPerS, RxBitsPerS: c.speed.TxBitsPerS}, true
	}
	return scenario.End{}, native.LinkSpeed{}, false
}

func (d *namespaceStage) across(end scenario.End) (far scenario.End, speed native.LinkSpeed, ok bool) {
	for _, c := range d.cables {
		if far, speed, ok := c.from(end); ok {
			return far, speed, true
		}
	}
	return scenario.End{}, native.LinkSpeed{}, false
}

// node is a hub or a peer below a receptacle.
type node struct {
	route  native.Route
	vendor string
	name   string
	uuid   string // a peer's; "" is a hub
	lanes  lanes
}

func (n node) isPeer() bool { return n.uuid != "" }

// below lists what hangs on a receptacle of a Mac, nearer ones first.
func (d *namespaceStage) below(port scenario.End) []node {
	far, speed, ok := d.across(port)
	if !ok {
		return nil
	}
	return d.descend(far, speed, 1, 8)
}

// descend follows a cable to its far end, whose route ends with shift bits.
func (d *namespaceStage) descend(far scenario.End, speed native.LinkSpeed, route native.Route, shift int) []node {
	l := lanesOf(speed)
	if far.Hub && far.PortNumber == 0 {
		hub := d.cluster.Hubs[slices.IndexFunc(d.cluster.Hubs, func(h scenario.Hub) bool { return h.Name == far.Owner })]
		nodes := []node{{route: route, vendor: hub.Vendor, name: hub.Product, lanes: l}}
		for n := range hub.Downstream {
			if next, speed, ok := d.across(scenario.End{Owner: hub.Name, PortNumber: n + 1, Hub: true}); ok {
				nodes = append(nodes, d.descend(next, speed, route|native.Route(n+1)<<shift, shift+8)...)
			}
		}
		return nodes
	}
	// A downstream receptacle leads to the machine whose hub it is.
	for far.Hub {
		var ok bool
		if far, _, ok = d.across(scenario.End{Owner: far.Owner, Hub: true}); !ok || far.Hub && far.PortNumber == 0 {
			return nil
		}
	}
	m, err := d.mac(far.Owner)
	if err != nil {
		d.t.Fatal(err)
	}
	i := slices.IndexFunc(m.spec.Ports, func(p scenario.Port) bool { return p.PortNumber == far.PortNumber })
	return []node{{route: route, vendor: "Linux", name: m.spec.Name, uuid: m.spec.Ports[i].DomainUUID, lanes: l}}
}

func lanesOf(s native.LinkSpeed) lanes {
	tx, rx := int(s.TxBitsPerS/1e9), int(s.RxBitsPerS/1e9)
	if tx == rx {
		return lanes{tx / 2, 2, 2}
	}
	return lanes{40, tx / 40, rx / 40}
}
