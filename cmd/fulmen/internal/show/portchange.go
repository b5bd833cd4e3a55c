package show

import (
	"slices"
	"strings"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// port is what is plugged into a port.
func (c *Changes) port(t api.Thunderbolt, d api.Document) string {
	speed := ""
	if s := negotiated(t.Negotiated); s != "" {
		speed = " at " + s
	}
	switch what := c.plugged(t); {
	case what != "":
		return what + speed + c.slow(t)
	case t.Connected == nil:
		return "plugged in or not: " + c.unknown(d, "connected")
	case *t.Connected:
		return "a device that is neither hub nor computer" + speed
	}
	return "empty"
}

// plugged names the machines that a port sees, each with the hubs in between;
// the hubs alone where there is no machine.
func (c *Changes) plugged(t api.Thunderbolt) string {
	var out []string
	for _, p := range t.Peers {
		said := "cable to " + c.peer(p)
		if hubs := depth(t.Hubs, p.Hub); hubs > 0 {
			said += " through " + count(hubs, "hub")
		}
		out = append(out, said)
	}
	if len(t.Peers) == 0 {
		for _, h := range t.Hubs {
			out = append(out, "hub "+hubName(h))
		}
	}
	return strings.Join(out, ", ")
}

// peer names a machine at the end of a cable by its port, where its documents
// were seen, else by its own word.
func (c *Changes) peer(p api.ThunderboltPeer) string {
	if other, ok := c.far(p); ok {
		return names(c.Names).end(other.end())
	}
	if p.Name == "" {
		return "a machine without a name"
	}
	return p.Name
}

// far is the port at the other end of a cable, where its document was seen.
func (c *Changes) far(p api.ThunderboltPeer) (port, bool) {
	for k, d := range c.docs {
		other := port{doc: d}
		if k.Kind == api.KindThunderbolt && p.DomainUUID != "" && d.Decode(&other.value) == nil && other.value.DomainUUID == p.DomainUUID {
			return other, true
		}
	}
	return port{}, false
}

// depth counts the hubs from one of them up to the port.
func depth(hubs []api.ThunderboltHub, route string) int {
	n := 0
	for route != "" && n < len(hubs) {
		at := slices.IndexFunc(hubs, func(h api.ThunderboltHub) bool { return h.Route == route })
		if at < 0 {
			return max(n, 1) // a hub is named, though it is not in the list
		}
		n++
		route = hubs[at].Parent
	}
	return n
}

// slow says that a cable negotiated less than its ports can.
func (c *Changes) slow(t api.Thunderbolt) string {
	can := fullSpeed(t.Capability)
	if t.Negotiated == nil || t.Negotiated.TxBitsPerS+t.Negotiated.RxBitsPerS >= 2*can {
		return ""
	}
	if len(t.Peers) == 1 && t.Peers[0].Hub == "" {
		if other, ok := c.far(t.Peers[0]); ok {
			if fullSpeed(other.value.Capability) >= can {
				return " where both ends can " + text.BitsPerS(can)
			}
			return ""
		}
	}
	return " where this port can " + text.BitsPerS(can)
}

// fullSpeed is what a generation does each way, in bits per second; 0 where it
// is not known. Thunderbolt 5's 120/40 is the same sum.
func fullSpeed(g api.ThunderboltGeneration) int64 {
	switch g {
	case api.Thunderbolt3, api.Thunderbolt4:
		return 40e9
	case api.Thunderbolt5:
		return 80e9
	}
	return 0
}

// portChange is what became different at a port.
func (c *Changes) portChange(a, b api.Thunderbolt, d api.Document) string {
	was, is := c.plugged(a), c.plugged(b)
	if was != is || isSet(a.Connected) != isSet(b.Connected) {
		if isSet(a.Connected) && !isSet(b.Connected) && b.Connected != nil {
			return join(", ", "unplugged", prefixed("was ", was))
		}
		return c.port(b, d) + prefixed(", was ", was)
	}
	var out []string
	if now, old := negotiated(b.Negotiated), negotiated(a.Negotiated); now != old && now != "" {
		out = append(out, "negotiated "+now+c.slow(b)+prefixed(", was ", old))
	}
	for _, p := range b.Peers {
		at := slices.IndexFunc(a.Peers, func(o api.ThunderboltPeer) bool { return o.DomainUUID == p.DomainUUID })
		if at < 0 {
			continue
		}
		offered, offers := slices.Contains(a.Peers[at].Services, api.ServiceRDMA), slices.Contains(p.Services, api.ServiceRDMA)
		switch {
		case offers && !offered:
			out = append(out, c.peer(p)+" offers RDMA now")
		case offered && !offers:
			out = append(out, c.peer(p)+" offers RDMA no longer")
		}
	}
	if a.Interface != b.Interface {
		out = append(out, "interface "+orNone(b.Interface)+", was "+orNone(a.Interface))
	}
	return strings.Join(out, "; ")
}
