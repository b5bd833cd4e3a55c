package show

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Changes puts the documents of a watch in words. Of hardware it says what
// became different since the document before.
type Changes struct {
	View
	// Names are the short names of the nodes.
	Names map[api.NodeID]string

	docs map[api.Key]api.Document
}

// Begin takes a snapshot in: what was known before is forgotten.
func (c *Changes) Begin(docs []api.Document) {
	c.docs = map[api.Key]api.Document{}
	for _, d := range docs {
		c.docs[d.Key()] = d
	}
}

// Tell is a document in one line: a hardware document that follows another as
// the difference, any other as it is.
func (c *Changes) Tell(d api.Document) string {
	before, had := c.docs[d.Key()]
	if c.docs == nil {
		c.docs = map[api.Key]api.Document{}
	}
	c.docs[d.Key()] = d
	out := ""
	if had && !d.Deleted && !before.Deleted {
		if out = c.difference(before, d); out == "" && lastTold(before) != "" && lastTold(d) == "" {
			out = "told again: " + c.state(d)
		}
	}
	if out == "" {
		out = c.state(d)
	}
	return text.Clean(join(" ", out, simulated(d.Simulated)))
}

// Gone is the end of a document in one line.
func (c *Changes) Gone(k api.Key) string {
	before, had := c.docs[k]
	delete(c.docs, k)
	var r api.Reach
	if had && k.Kind == api.KindReach && before.Decode(&r) == nil {
		return text.Clean("gone: " + c.Name(r.Peer) + " at " + r.Address.String())
	}
	return "gone"
}

// Name is a node's short name, or its id.
func (c *Changes) Name(id api.NodeID) string { return names(c.Names).of(id) }

// state is a document as it is.
func (c *Changes) state(d api.Document) string {
	if d.Deleted {
		return "gone"
	}
	out, ok := c.hardware(d)
	if !ok {
		out = c.summary(d)
	}
	return join(", ", out, lastTold(d))
}

// hardware is a document about ports and paths as it is; false for others.
func (c *Changes) hardware(d api.Document) (string, bool) {
	switch d.Kind {
	case api.KindThunderbolt:
		var t api.Thunderbolt
		err := d.Decode(&t)
		return c.port(t, d), err == nil
	case api.KindRDMA:
		var r api.RDMA
		err := d.Decode(&r)
		return rdmaState(r), err == nil
	case api.KindReach:
		var r api.Reach
		err := d.Decode(&r)
		return c.reach(r), err == nil
	case api.KindLinkProfile:
		var p api.LinkProfile
		err := d.Decode(&p)
		return c.profile(p), err == nil
	}
	return "", false
}

// difference is what changed between two documents of hardware; empty where it
// is nothing that a person would ask about, and for other kinds.
func (c *Changes) difference(before, after api.Document) string {
	switch after.Kind {
	case api.KindThunderbolt:
		var a, b api.Thunderbolt
		if before.Decode(&a) == nil && after.Decode(&b) == nil {
			return c.portChange(a, b, after)
		}
	case api.KindRDMA:
		var a, b api.RDMA
		if before.Decode(&a) == nil && after.Decode(&b) == nil {
			return rdmaChange(a, b)
		}
	case api.KindNetwork:
		var a, b api.Network
		if before.Decode(&a) == nil && after.Decode(&b) == nil {
			return networkChange(a, b)
		}
	case api.KindReach:
		var a, b api.Reach
		if before.Decode(&a) == nil && after.Decode(&b) == nil && a.State != b.State && b.State == api.PathActive {
			return "now " + c.reach(b)
		}
	}
	return ""
}

func isSet(b *bool) bool { return b != nil && *b }

// prefixed puts something in front of a text that is not empty.
func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// compare is what the second set has more, and less.
func compare(a, b map[string]bool) (gained, lost []string) {
	for _, k := range slices.Sorted(maps.Keys(b)) {
		if !a[k] {
			gained = append(gained, k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(a)) {
		if !b[k] {
			lost = append(lost, k)
		}
	}
	return gained, lost
}

// listed is a sentence about several things; none where there are none.
func listed(prefix string, things []string) []string {
	if len(things) == 0 {
		return nil
	}
	return []string{prefix + strings.Join(things, ", ")}
}

// networkChange is what became different about a node's interfaces.
func networkChange(a, b api.Network) string {
	before, after := byName(a), byName(b)
	var out []string
	for _, i := range b.Interfaces {
		was, had := before[i.Name]
		if !had {
			out = append(out, fmt.Sprintf("%s (%s) appeared", i.Name, i.Type)+prefixed(" with ", strings.Join(addresses(i), ", ")))
			continue
		}
		out = append(out, interfaceChange(was, i)...)
	}
	for _, i := range a.Interfaces {
		if _, has := after[i.Name]; !has {
			out = append(out, i.Name+" is gone")
		}
	}
	if a.PrimaryInterface != b.PrimaryInterface {
		out = append(out, "the default route is over "+orNone(b.PrimaryInterface)+", was "+orNone(a.PrimaryInterface))
	}
	return strings.Join(out, "; ")
}

func byName(n api.Network) map[string]api.Interface {
	out := map[string]api.Interface{}
	for _, i := range n.Interfaces {
		out[i.Name] = i
	}
	return out
}

func interfaceChange(a, b api.Interface) []string {
	var out []string
	add := func(s string) { out = append(out, b.Name+" "+s) }
	switch {
	case a.Up && !b.Up:
		add("switched off")
	case !a.Up && b.Up:
		add("switched on")
	}
	switch {
	case isSet(a.Link) && b.Link != nil && !*b.Link:
		add("link down")
	case !isSet(a.Link) && isSet(b.Link):
		add("link up")
	}
	switch {
	case a.Bridge == b.Bridge:
	case b.Bridge == "":
		add("left " + a.Bridge)
	default:
		add("joined " + b.Bridge)
	}
	gained, lost := compare(set(addresses(a)), set(addresses(b)))
	out = append(out, listed(b.Name+" gained ", gained)...)
	out = append(out, listed(b.Name+" lost ", lost)...)
	number := func(what string, was, is *int64, write func(*int64) string) {
		if is != nil && (was == nil || *was != *is) {
			add(what + " " + write(is) + ", was " + write(was))
		}
	}
	number("MTU", a.MTUBytes, b.MTUBytes, func(n *int64) string {
		if n == nil {
			return none
		}
		return fmt.Sprint(*n)
	})
	number("speed", a.SpeedBitsPerS, b.SpeedBitsPerS, rate)
	return out
}

// addresses are an interface's addresses, without the length of their network.
func addresses(i api.Interface) []string {
	var out []string
	for _, a := range i.Addresses {
		out = append(out, a.Address.Addr().String())
	}
	return out
}

func set(things []string) map[string]bool {
	out := map[string]bool{}
	for _, t := range things {
		out[t] = true
	}
	return out
}

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
