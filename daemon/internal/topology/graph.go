package topology

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"fulmen/daemon/api"
)

// Kinds are the kinds of documents that the graph is made of.
func Kinds() []api.Kind {
	return []api.Kind{
		api.KindIdentity, api.KindNetwork, api.KindThunderbolt, api.KindRDMA, api.KindReach, api.KindLinkProfile,
		api.KindRDMAChange, api.KindNodeState, api.KindCondition,
	}
}

// NodesOf sorts the documents of a ledger by node, the nodes ordered by id.
// Of several versions of one document the newest counts; deleted documents and
// kinds that the graph does not use are skipped. A node is simulated if any of
// its documents is. A document that cannot be decoded is left out and named in
// the causes. stale may be nil: then no node is.
func NodesOf(docs []api.Document, stale func(api.NodeID) bool) ([]Node, []api.Cause) {
	latest := map[api.Key]*api.Document{}
	for i := range docs {
		d := &docs[i]
		if old, ok := latest[d.Key()]; !ok || newer(d, old) {
			latest[d.Key()] = d
		}
	}
	kept := make([]api.SharedDocument, 0, len(latest))
	for _, d := range latest {
		kept = append(kept, api.SharedDocument{Document: d})
	}
	slices.SortFunc(kept, func(a, b api.SharedDocument) int { return a.Key().Compare(b.Key()) })
	return NodesOfHeld(kept, stale)
}

// NodesOfHeld is NodesOf where documents are ordered by key and each is there once, as
// a ledger gives them. What they have decoded is shared by the nodes, and must not be
// changed.
func NodesOfHeld(docs []api.SharedDocument, stale func(api.NodeID) bool) ([]Node, []api.Cause) {
	var nodes []Node
	var notes []api.Cause
	for _, d := range docs {
		if d.Deleted {
			continue
		}
		if len(nodes) == 0 || nodes[len(nodes)-1].ID != d.Node {
			nodes = append(nodes, Node{ID: d.Node, Stale: stale != nil && stale(d.Node)})
		}
		if err := nodes[len(nodes)-1].add(d); err != nil {
			notes = append(notes, api.AsError(err).Cause())
		}
	}
	return nodes, notes
}

// newer reports whether a is the later version. Two values under one version
// are a fault of their writer: the bytes decide, so that the order does not.
func newer(a, b *api.Document) bool {
	return cmp.Or(cmp.Compare(a.Inc, b.Inc), cmp.Compare(a.Seq, b.Seq), slices.Compare(a.Value, b.Value)) > 0
}

// add takes one document over.
func (n *Node) add(d api.SharedDocument) error {
	n.Simulated = n.Simulated || d.Simulated
	switch d.Kind {
	case api.KindIdentity:
		return take(d, func(v *api.Identity) { n.Identity, n.ShortName, n.IdentityUnknown = v, v.ShortName, d.Unknown })
	case api.KindNetwork:
		return take(d, func(v *api.Network) { n.Network = v })
	case api.KindThunderbolt:
		return take(d, func(v *api.Thunderbolt) {
			n.Thunderbolt = append(n.Thunderbolt, Port{Thunderbolt: *v, Unknown: d.Unknown})
		})
	case api.KindRDMA:
		return take(d, func(v *api.RDMA) {
			n.RDMA = append(n.RDMA, *v)
			if n.RDMAUnknown == nil {
				n.RDMAUnknown = map[api.PortNumber]map[string]api.Reason{}
			}
			n.RDMAUnknown[v.PortNumber] = d.Unknown
		})
	case api.KindRDMAChange:
		return take(d, func(v *api.RDMAChange) { n.RDMAChanges = append(n.RDMAChanges, *v) })
	case api.KindCondition:
		return take(d, n.fault)
	case api.KindNodeState:
		return take(d, func(v *api.NodeState) { n.State = v })
	case api.KindReach:
		return take(d, func(v *api.Reach) { n.Reach = append(n.Reach, *v) })
	case api.KindLinkProfile:
		return take(d, func(v *api.LinkProfile) {
			n.Profiles = append(n.Profiles, Profile{Name: d.Name, LinkProfile: *v, Simulated: d.Simulated})
		})
	}
	return nil
}

// fault takes a condition over that is about a receptacle of the node.
func (n *Node) fault(c *api.Condition) {
	end, err := api.ParseLinkEnd(c.Subject)
	if err != nil || end.Node != n.ID {
		return
	}
	if n.Faults == nil {
		n.Faults = map[api.PortNumber][]api.Reason{}
	}
	n.Faults[end.PortNumber] = append(n.Faults[end.PortNumber], c.Code)
}

// take gives a document's value on.
func take[T any](d api.SharedDocument, to func(*T)) error {
	v, err := api.Value[T](d)
	if err == nil {
		to(&v)
	}
	return err
}

// Graph is what the documents of all nodes say together. It shares memory with
// its input, which must not change after.
type Graph struct {
	// Paths are the ways over sockets, ordered by nodes and address.
	Paths []Path
	// Notes are what could not be believed or matched, in a fixed order.
	Notes []api.Cause
	// Trusted are the networks that the node's configuration trusts for unencrypted traffic, for
	// a host file.
	Trusted []netip.Prefix
	// Named are the interfaces and networks that may carry it besides, as a person names them.
	Named []string

	index  *index
	cables []*cable
	rows   func() []api.LinkRow // nil: there are none
	// measured are the rows of cables over RDMA; nil: there are none.
	measured func() map[api.LinkID]*api.LinkRow
	loops    [][]api.NodeID
}

// Build makes the graph. The same input in any order gives the same graph.
func Build(in Input) Graph {
	x := newIndex(in.Nodes)
	g := Graph{index: x, cables: cablesOf(x)}
	g.markLoops()
	g.markMuted()
	g.judgeRDMA()
	g.Paths = pathsOf(x, g.cables)
	rows := rowsOf(x, &g, in)
	g.rows, g.measured = rows, sync.OnceValue(func() map[api.LinkID]*api.LinkRow { return RDMARows(rows()) })
	g.Notes = x.notes.sorted()
	return g
}

// List is the graph as the API gives it.
func (g Graph) List() api.LinkListResult {
	list := g.Cables()
	if g.rows != nil {
		list.Rows = g.rows()
		list.Networks = networkLines(list.Rows, g.index)
	}
	return list
}

// Measured are the measurements over RDMA that count, by cable.
func (g Graph) Measured() map[api.LinkID]*api.LinkRow {
	if g.measured == nil {
		return nil
	}
	return g.measured()
}

// Cables is List without its rows, which take as long as the rest: there are as many as
// pairs of nodes, and only who watches has use for them.
func (g Graph) Cables() api.LinkListResult {
	list := api.LinkListResult{Cables: make([]api.Cable, len(g.cables)), Rows: []api.LinkRow{}, Loops: g.loops}
	for i, c := range g.cables {
		list.Cables[i] = c.Cable
	}
	return list
}

// markMuted takes over what a person muted at either end.
func (g *Graph) markMuted() {
	muted := map[api.LinkID]bool{}
	for _, n := range g.index.nodes {
		for i := range n.Profiles {
			if p := &n.Profiles[i]; p.Muted && p.Link.Valid() {
				muted[p.Link] = true
			}
		}
	}
	for _, c := range g.cables {
		c.Muted = c.high != nil && muted[c.Link]
	}
}

// index is the input in an order of its own, with what is looked up in it.
type index struct {
	nodes []*node
	byID  map[api.NodeID]*node
	// byUUID finds a receptacle by its domain; one that several claim has none.
	byUUID map[string]*port
	notes  noteList
}

// node is an input node with its parts by name.
type node struct {
	*Node
	ports  []*port
	ifaces map[string]*api.Interface
	rdma   map[api.PortNumber]*api.RDMA
	// byAddress are the interfaces that have an address, without zone.
	byAddress map[netip.Addr][]*api.Interface
}

// port is a receptacle of a node.
type port struct {
	*Port
	node *node
	// shared says that others claim the domain too, and that it is not this one's by more right.
	shared bool
}

func (p *port) end() api.LinkEnd { return api.LinkEnd{Node: p.node.ID, PortNumber: p.PortNumber} }

// name is what people call the receptacle.
func (p *port) name() string { return p.node.displayName() + ":" + p.PortNumber.String() }

// has reports whether the node raised a condition on the receptacle.
func (p *port) has(code api.Reason) bool { return slices.Contains(p.node.Faults[p.PortNumber], code) }

// iface is the network interface of the receptacle.
func (p *port) iface() string {
	if p.Interface != "" || p.node.Network == nil {
		return p.Interface
	}
	for i := range p.node.Network.Interfaces {
		if f := &p.node.Network.Interfaces[i]; f.PortNumber == p.PortNumber && f.Type == api.InterfaceThunderbolt {
			return f.Name
		}
	}
	return ""
}

// device is the RDMA device of the receptacle; nil where there is none or it is not told.
func (p *port) device() *api.RDMADevice {
	if r := p.node.rdma[p.PortNumber]; r != nil {
		return r.Device
	}
	return nil
}

func newIndex(in []Node) *index {
	x := &index{byID: make(map[api.NodeID]*node, len(in)), byUUID: map[string]*port{}}
	ordered := make([]*Node, len(in))
	for i := range in {
		ordered[i] = &in[i]
	}
	slices.SortFunc(ordered, func(a, b *Node) int { return cmp.Compare(a.ID, b.ID) })
	for i, n := range ordered {
		before, after := i > 0 && ordered[i-1].ID == n.ID, i+1 < len(ordered) && ordered[i+1].ID == n.ID
		switch {
		case !n.ID.Valid():
			x.notes.add(api.ReasonMalformedID, string(n.ID), "%q is not a node id", string(n.ID))
		case before || after:
			x.notes.add(api.ReasonDuplicateIdentity, string(n.ID), "%s is given twice: neither counts", n.ID.Display())
		default:
			x.addNode(n)
		}
	}
	x.matchDomains()
	return x
}

func (x *index) addNode(from *Node) {
	n := &node{Node: from}
	x.nodes = append(x.nodes, n)
	x.byID[n.ID] = n
	if from.Network != nil {
		x.addInterfaces(n, from.Network.Interfaces)
	}
	counts := map[api.PortNumber]int{}
	for i := range from.Thunderbolt {
		counts[from.Thunderbolt[i].PortNumber]++
	}
	for i := range from.Thunderbolt {
		p := &port{Port: &from.Thunderbolt[i], node: n}
		switch {
		case !p.end().Valid():
			x.notes.add(api.ReasonMalformedDocument, string(n.ID), "%s: %d is not a receptacle", n.displayName(), p.PortNumber)
		case counts[p.PortNumber] > 1:
			x.notes.add(api.ReasonSourcesDisagree, p.end().String(), "%s is described twice: neither counts", p.name())
		default:
			n.ports = append(n.ports, p)
		}
	}
	n.rdma = make(map[api.PortNumber]*api.RDMA, len(from.RDMA))
	for i := range from.RDMA {
		r := &from.RDMA[i]
		if _, twice := n.rdma[r.PortNumber]; twice {
			r = nil
		}
		n.rdma[from.RDMA[i].PortNumber] = r
	}
}

func (x *index) addInterfaces(n *node, all []api.Interface) {
	n.ifaces = make(map[string]*api.Interface, len(all))
	n.byAddress = make(map[netip.Addr][]*api.Interface, len(all))
	for i := range all {
		f := &all[i]
		if _, twice := n.ifaces[f.Name]; twice {
			x.notes.add(api.ReasonSourcesDisagree, string(n.ID), "%s has two interfaces %s: neither counts", n.displayName(), f.Name)
			n.ifaces[f.Name] = nil
			continue
		}
		n.ifaces[f.Name] = f
	}
	for i := range all {
		f := &all[i]
		if n.ifaces[f.Name] != f {
			continue
		}
		for _, a := range f.Addresses {
			bare := bareAddress(a.Address.Addr())
			if list := n.byAddress[bare]; bare.IsValid() && !slices.Contains(list, f) {
				n.byAddress[bare] = append(list, f)
			}
		}
	}
	for _, list := range n.byAddress {
		slices.SortFunc(list, func(a, b *api.Interface) int { return cmp.Compare(a.Name, b.Name) })
	}
}

// bareAddress is an address in one form: zones are names of the machine that
// writes them, so those of two machines never match.
func bareAddress(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// matchDomains fills byUUID. Where several receptacles claim one domain, none
// gets it: any match would be a guess. A node that can be reached outweighs
// those that cannot: a Mac that was paired anew leaves its old documents behind.
func (x *index) matchDomains() {
	claims := map[string][]*port{}
	for _, n := range x.nodes {
		for _, p := range n.ports {
			if uuid := strings.ToUpper(p.DomainUUID); uuid != "" {
				claims[uuid] = append(claims[uuid], p)
			}
		}
	}
	for uuid, ports := range claims {
		x.byUUID[uuid] = soleClaim(ports)
		for _, p := range ports {
			if len(ports) > 1 {
				p.shared = p != x.byUUID[uuid]
				x.notes.add(api.ReasonSourcesDisagree, p.end().String(), "%s claims a Thunderbolt domain that %d receptacles claim", p.name(), len(ports))
			}
		}
	}
}

// soleClaim is the only port that claims a domain, or the only one of a node
// that can be reached; nil where there is no such one.
func soleClaim(ports []*port) *port {
	if len(ports) == 1 {
		return ports[0]
	}
	var live []*port
	for _, p := range ports {
		if !p.node.Stale {
			live = append(live, p)
		}
	}
	if len(live) == 1 {
		return live[0]
	}
	return nil
}

// Input is what the graph is made of.
type Input struct {
	// Nodes are the members, in any order.
	Nodes []Node
	// At is now. Where it is zero, no measurement is called old.
	At api.Time
	// SocketTTL and RDMATTL are the ages from which numbers are old; zero means
	// api.DefaultSocketTTL and api.DefaultRDMATTL.
	SocketTTL time.Duration
	RDMATTL   time.Duration
}

// Node is what one node's documents say. A nil or empty field is a document
// that is not held.
type Node struct {
	// ID is the node. Two nodes with one id are a fault, and neither counts.
	ID api.NodeID
	// ShortName is for people, and what a host file calls it.
	ShortName string
	// Identity is the identity document, IdentityUnknown its reasons.
	Identity        *api.Identity
	IdentityUnknown map[string]api.Reason
	// Network is the network document.
	Network *api.Network
	// Thunderbolt are the thunderbolt documents, one for each receptacle.
	Thunderbolt []Port
	// RDMA are the rdma documents, one for each receptacle; RDMAUnknown are their reasons.
	RDMA        []api.RDMA
	RDMAUnknown map[api.PortNumber]map[string]api.Reason
	// RDMAChanges are the rdma-change documents, one for each cable.
	RDMAChanges []api.RDMAChange
	// Reach are the reach documents.
	Reach []api.Reach
	// Profiles are the link-profile documents.
	Profiles []Profile
	// Faults are the codes of the conditions that the node raised on a receptacle.
	Faults map[api.PortNumber][]api.Reason
	// State is the node-state document.
	State *api.NodeState
	// Stale says that the node cannot be reached now, so that its documents may be out of date.
	Stale bool
	// Simulated says that no real hardware is behind it.
	Simulated bool
}

// Port is a thunderbolt document with its reasons.
type Port struct {
	api.Thunderbolt
	// Unknown gives, for absent fields, the reason, as the document has it.
	Unknown map[string]api.Reason
}

// Profile is a link-profile document with its name.
type Profile struct {
	// Name is the document's: a peer's address, or a cable.
	Name string
	api.LinkProfile
	// Simulated says that the numbers are a scenario's.
	Simulated bool
	// turned is the other end's profile that this is, with the directions exchanged; nil
	// for one as it was written.
	turned *Profile
}

// displayName is what people call a node.
func (n *Node) displayName() string {
	if n.ShortName != "" {
		return n.ShortName
	}
	return n.ID.Display()
}
