package show

import (
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
