package liveness

import (
	"maps"
	"strings"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
)

// Names gives every member its short name. In the roster's order, which is the
// same on every node, each gets the slug of its computer's name, or the first of
// -2, -3, ... that is free: whoever was there first keeps the plain one, and
// nobody's name changes because somebody joins. Removed members come last: one
// gives its name back, most often to the same Mac paired again.
//
// While the identity of a member has not arrived, the numbers of others cannot
// be counted; then those count that they publish themselves, so that no Mac is
// called by another's name for a moment.
func Names(members []api.Member, identity func(api.NodeID) (api.Identity, bool)) map[api.NodeID]string {
	missing := false
	for _, m := range members {
		if _, known := identity(m.Node); !known && m.RemovedBy == "" {
			missing = true
		}
	}
	names, taken := map[api.NodeID]string{}, map[string]bool{}
	give := func(removed bool) {
		for _, m := range members {
			if _, has := names[m.Node]; has || (m.RemovedBy != "") != removed {
				continue
			}
			who, _ := identity(m.Node)
			name := cluster.ShortName(who.Name, m.Node)
			if missing && who.ShortName != name && isNumbered(who.ShortName, name) {
				name = who.ShortName
			}
			name = cluster.UniqueName(name, func(n string) bool { return taken[n] })
			names[m.Node], taken[name] = name, true
		}
	}
	give(false)
	give(true)
	return names
}

// isNumbered reports whether a name is another with a number, as UniqueName
// gives it.
func isNumbered(name, plain string) bool {
	at := strings.LastIndexByte(name, '-')
	if at < 1 || at == len(name)-1 || strings.Trim(name[at+1:], "0123456789") != "" {
		return false
	}
	room := cluster.MaxShortName - len(name[at:])
	return name[:at] == strings.TrimRight(plain[:max(0, min(room, len(plain)))], "-")
}

// Name is what people call a node; its id as people read it where it is no
// member.
func (v View) Name(node api.NodeID) string {
	if name, found := v.names[node]; found {
		return name
	}
	return node.Display()
}

// Names are the short names of all who ever were members.
func (v View) Names() map[api.NodeID]string { return maps.Clone(v.names) }

// Called is what members call their computers, as far as it is known.
func (v View) Called() map[api.NodeID]string { return maps.Clone(v.called) }

// Find is the node that a person means: its id or short name, or a beginning of
// either that no other has. Empty is this node. A removed member is found only
// where no other is meant. The error is no_such_node or ambiguous_name.
func (v View) Find(ref api.NodeRef) (api.NodeID, error) {
	if ref == "" {
		return v.self, nil
	}
	for _, removed := range []bool{false, true} {
		var begins []api.NodeID
		for _, n := range v.Nodes {
			if (n.Liveness == api.LivenessRemoved) != removed {
				continue
			}
			if id, err := api.ParseNodeID(string(ref)); err == nil && id == n.Node || strings.EqualFold(n.ShortName, string(ref)) {
				return n.Node, nil
			}
			if isBeginning(string(ref), n) {
				begins = append(begins, n.Node)
			}
		}
		switch len(begins) {
		case 0:
			continue
		case 1:
			return begins[0], nil
		}
		return "", api.Errorf(api.ReasonAmbiguousName, string(ref), "%q is the beginning of %d nodes; type more of it", string(ref), len(begins))
	}
	return "", api.Errorf(api.ReasonNoSuchNode, string(ref), "There is no node %q.", string(ref))
}

// isBeginning reports whether a person's text begins a node's name or its id,
// in the alphabet that people may use for ids.
func isBeginning(text string, n api.NodeView) bool {
	text = strings.ToLower(text)
	id := strings.NewReplacer("-", "", "o", "0", "i", "1", "l", "1").Replace(text)
	return strings.HasPrefix(n.ShortName, text) || id != "" && strings.HasPrefix(string(n.Node), id)
}

// Called is what Macs call themselves, as far as it was ever heard. A daemon that has just
// started has heard of none yet, not even of its own Mac's name, and what it says of a job
// then stays.
type Called struct {
	save func(map[api.NodeID]string) error

	mu    sync.Mutex
	names map[api.NodeID]string
}

// NewCalled goes on from what was saved.
func NewCalled(names map[api.NodeID]string, save func(map[api.NodeID]string) error) *Called {
	return &Called{save: save, names: names}
}

// Derive derives a view. Its names are on disk before anybody is told of them; what cannot
// be saved is tried again the next time.
func (c *Called) Derive(in Input) View {
	c.mu.Lock()
	defer c.mu.Unlock()
	in.Called = c.names
	view := Derive(in)
	if now := view.Called(); !maps.Equal(now, c.names) && c.save(now) == nil {
		c.names = now
	}
	return view
}
