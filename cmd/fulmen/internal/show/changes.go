package show

import (
	"fmt"
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
	Names Names

	docs map[api.Key]api.Document
}

// Begin takes a snapshot in: what was known before is forgotten.
func (c *Changes) Begin(docs []api.Document) {
	c.docs = map[api.Key]api.Document{}
	for _, d := range docs {
		c.docs[d.Key()] = d
	}
}

// Line is a document in one line: a hardware document that follows another as
// the difference, any other as it is.
func (c *Changes) Line(d api.Document) string {
	before, had := c.docs[d.Key()]
	if c.docs == nil {
		c.docs = map[api.Key]api.Document{}
	}
	c.docs[d.Key()] = d
	out := ""
	if had && !d.Deleted && !before.Deleted {
		if out = c.difference(before, d); out == "" && lastReported(before) != "" && lastReported(d) == "" {
			out = "reported again: " + c.state(d)
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
func (c *Changes) Name(id api.NodeID) string { return c.Names.Of(id) }

// state is a document as it is.
func (c *Changes) state(d api.Document) string {
	if d.Deleted {
		return "gone"
	}
	return join(", ", c.summary(d), lastReported(d))
}

// difference is what changed between two documents of hardware; empty where it
// is nothing that a person would ask about, and for other kinds.
func (c *Changes) difference(before, after api.Document) string {
	switch after.Kind {
	case api.KindThunderbolt:
		return changed(before, after, func(a, b api.Thunderbolt) string { return c.portChange(a, b, after) })
	case api.KindRDMA:
		return changed(before, after, rdmaChange)
	case api.KindNetwork:
		return changed(before, after, networkChange)
	case api.KindReach:
		return changed(before, after, func(a, b api.Reach) string {
			return choose(a.State != b.State && b.State == api.PathActive, "now "+c.reach(b), "")
		})
	}
	return ""
}

// changed is what became different between two documents; nothing where one cannot be read.
func changed[T any](before, after api.Document, words func(a, b T) string) string {
	var a, b T
	if before.Decode(&a) != nil || after.Decode(&b) != nil {
		return ""
	}
	return words(a, b)
}

func isSet(b *bool) bool { return b != nil && *b }

// compared says which of some things came and which went.
func compared(what, name string, before, after []string) (out []string) {
	more := func(verb string, of, than []string) {
		of = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(of))), func(s string) bool { return slices.Contains(than, s) })
		if len(of) > 0 {
			out = append(out, name+" "+verb+what+strings.Join(of, ", "))
		}
	}
	more("gained ", after, before)
	more("lost ", before, after)
	return out
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
	out = append(out, compared("", b.Name, addresses(a), addresses(b))...)
	number := func(what string, was, is *int64, write func(*int64) string) {
		if is != nil && (was == nil || *was != *is) {
			add(what + " " + write(is) + ", was " + write(was))
		}
	}
	number("MTU", a.MTUBytes, b.MTUBytes, func(n *int64) string {
		return given(n, func(n int64) string { return fmt.Sprint(n) })
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
		return "not known whether something is plugged in: " + c.unknown(d, "connected")
	case *t.Connected:
		return "a device that is neither a hub nor a computer" + speed
	}
	return "empty"
}

// plugged names the machines that a port sees, each with the hubs in between;
// the hubs alone where there is no machine.
func (c *Changes) plugged(t api.Thunderbolt) string {
	var out []string
	for _, p := range t.Peers {
		what := "cable to " + c.peer(p)
		if hubs := depth(t.Hubs, p.Hub); hubs > 0 {
			what += " through " + text.Count(hubs, "hub")
		}
		out = append(out, what)
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
		return c.Names.end(other.end())
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
			out = append(out, c.peer(p)+" no longer offers RDMA")
		}
	}
	if a.Interface != b.Interface {
		out = append(out, "interface "+orNone(b.Interface)+", was "+orNone(a.Interface))
	}
	return strings.Join(out, "; ")
}
