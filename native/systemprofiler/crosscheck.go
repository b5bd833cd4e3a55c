package systemprofiler

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"fulmen/native"
)

// CrossCheck lists where two readings of one Mac's ports disagree, a line for people
// each, by receptacle. What either does not know is no disagreement. The readings are
// never of quite the same moment: a cable that was moved between them shows up here too.
func CrossCheck(registry, profiler native.Thunderbolt) []string {
	var lines []string
	for _, c := range Compare(registry, profiler) {
		if !c.Same && c.Known() {
			lines = append(lines, fmt.Sprintf("%s: the registry says %s, system_profiler says %s", strings.Replace(c.Fact, ", ", ": ", 1), c.Reported[0], c.Reported[1]))
		}
	}
	return lines
}

// Compare tells every fact of one Mac's ports by both readings, by receptacle.
func Compare(registry, profiler native.Thunderbolt) []native.Comparison {
	portNumbers := map[int]bool{}
	for _, port := range slices.Concat(registry.Ports, profiler.Ports) {
		portNumbers[port.PortNumber] = true
	}
	var c checker
	for _, c.portItem = range slices.Sorted(maps.Keys(portNumbers)) {
		ours, isOurs := registry.Port(c.portItem)
		theirs, isTheirs := profiler.Port(c.portItem)
		switch {
		case isOurs && isTheirs:
			c.port(ours, theirs)
		case isOurs && profiler.Ports != nil:
			c.add("presence", "there", "not there", false)
		case isTheirs && registry.Ports != nil:
			c.add("presence", "not there", "there", false)
		}
	}
	return c.found
}

type checker struct {
	portItem int
	found    []native.Comparison
}

// add notes a value by both readings, of which "" is unknown.
func (c *checker) add(field, registry, profiler string, same bool) {
	c.found = append(c.found, native.Comparison{
		Fact:    fmt.Sprintf("port %d, %s", c.portItem, field),
		Sources: [2]string{"the registry", "system_profiler"}, Reported: [2]string{registry, profiler}, Same: same,
	})
}

// text compares two values.
func (c *checker) text(field, registry, profiler string) {
	c.add(field, registry, profiler, strings.EqualFold(registry, profiler))
}

// link compares what is in use. Generation and lanes are the registry's alone;
// of an asymmetric link system_profiler tells the faster direction at best.
func (c *checker) link(field string, registry, profiler *native.Link) {
	c.add(field, describe(registry), describe(profiler), registry != nil && profiler != nil && faster(*registry) == faster(*profiler))
}

func faster(l native.Link) int64 { return max(l.TxBitsPerS, l.RxBitsPerS) }

func describe(l *native.Link) string {
	switch {
	case l == nil:
		return ""
	case l.State == native.LinkDown:
		return "down"
	}
	return l.Speed().String()
}

func (c *checker) port(registry, profiler native.Port) {
	c.text("domain_uuid", registry.DomainUUID, profiler.DomainUUID)
	c.text("capability", string(registry.Capability), string(profiler.Capability))
	c.text("status", string(registry.Status), string(profiler.Status))
	c.text("interface", registry.Interface, profiler.Interface)
	c.link("negotiated", registry.Negotiated, profiler.Negotiated)
	c.hubs(registry.Hubs, profiler.Hubs)
	c.peers(registry.Peers, profiler.Peers)
}

func (c *checker) hubs(registry, profiler []native.Hub) {
	complete := registry != nil && profiler != nil
	routes := func(hubs []native.Hub) (all []string) {
		for _, h := range hubs {
			complete = complete && isRoute(h.Route)
			all = append(all, h.Route)
		}
		return all
	}
	ours, theirs := routes(registry), routes(profiler)
	c.set("hubs", ours, theirs, complete)
	for _, a := range registry {
		i := slices.IndexFunc(profiler, func(b native.Hub) bool { return a.Route == b.Route })
		if i < 0 {
			continue
		}
		c.text("hub "+a.Route+": name", a.Name, profiler[i].Name)
		c.link("hub "+a.Route+": negotiated", a.Negotiated, profiler[i].Negotiated)
	}
}

func (c *checker) peers(registry, profiler []native.Peer) {
	complete := registry != nil && profiler != nil
	domains := func(peers []native.Peer) (all []string) {
		for _, p := range peers {
			complete = complete && p.DomainUUID != ""
			all = append(all, strings.ToUpper(p.DomainUUID))
		}
		return all
	}
	ours, theirs := domains(registry), domains(profiler)
	c.set("peers", ours, theirs, complete)
	for _, a := range registry {
		i := slices.IndexFunc(profiler, func(b native.Peer) bool { return a.DomainUUID != "" && strings.EqualFold(a.DomainUUID, b.DomainUUID) })
		if i < 0 {
			continue
		}
		b := profiler[i]
		at := "peer " + a.DomainUUID + ": "
		c.text(at+"name", a.Name, b.Name)
		c.link(at+"negotiated", a.Negotiated, b.Negotiated)
		if a.Hub != b.Hub && isRoute(a.Hub) && isRoute(b.Hub) {
			c.add(at+"hub", orNone(a.Hub), orNone(b.Hub), false)
		}
		protocols := func(p native.Peer) (all []string) {
			for _, s := range p.Services {
				all = append(all, fmt.Sprint(s.ProtocolID))
			}
			return all
		}
		c.set(at+"services", protocols(a), protocols(b), a.Services != nil && b.Services != nil)
	}
}

// isRoute is false for the made-up name of a router whose route is not known.
func isRoute(route string) bool { return !strings.HasPrefix(route, "?") }

// set compares without regard to order.
func (c *checker) set(field string, registry, profiler []string, known bool) {
	if !known {
		c.add(field, "", "", false)
		return
	}
	slices.Sort(registry)
	slices.Sort(profiler)
	c.add(field, orNone(strings.Join(registry, " ")), orNone(strings.Join(profiler, " ")), slices.Equal(slices.Compact(registry), slices.Compact(profiler)))
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
