package topology

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
)

// Graph is what the documents of all nodes say together. It shares memory with
// its input, which must not change after.
type Graph struct {
	// Paths are the ways over sockets, ordered by nodes and address.
	Paths []Path
	// Notes are what could not be believed or matched, in a fixed order.
	Notes []api.Cause

	index  *index
	cables []*cable
	rows   []api.LinkRow
	loops  [][]api.NodeID
}

// Build makes the graph. The same input in any order gives the same graph.
func Build(in Input) Graph {
	x := newIndex(in.Nodes)
	g := Graph{index: x, cables: cablesOf(x)}
	g.markLoops()
	g.markMuted()
	g.judgeRDMA()
	g.Paths = pathsOf(x, g.cables)
	g.rows = rowsOf(x, &g, in)
	g.Notes = x.notes.sorted()
	return g
}

// List is the graph as the API gives it.
func (g Graph) List() api.LinkListResult {
	list := api.LinkListResult{Cables: make([]api.Cable, len(g.cables)), Rows: g.rows, Loops: g.loops}
	for i, c := range g.cables {
		list.Cables[i] = c.Cable
	}
	if list.Rows == nil {
		list.Rows = []api.LinkRow{}
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
	rdma   map[api.Receptacle]*api.RDMA
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

func (p *port) end() api.LinkEnd { return api.LinkEnd{Node: p.node.ID, Receptacle: p.Receptacle} }

// name is what people call the receptacle.
func (p *port) name() string { return p.node.displayName() + ":" + p.Receptacle.String() }

// has reports whether the node raised a condition on the receptacle.
func (p *port) has(code api.Reason) bool { return slices.Contains(p.node.Faults[p.Receptacle], code) }

// iface is the network interface of the receptacle.
func (p *port) iface() string {
	if p.Interface != "" || p.node.Network == nil {
		return p.Interface
	}
	for i := range p.node.Network.Interfaces {
		if f := &p.node.Network.Interfaces[i]; f.Receptacle == p.Receptacle && f.Type == api.InterfaceThunderbolt {
			return f.Name
		}
	}
	return ""
}

// device is the RDMA device of the receptacle; nil where there is none or it is not told.
func (p *port) device() *api.RDMADevice {
	if r := p.node.rdma[p.Receptacle]; r != nil {
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
			x.notes.add(api.ReasonMalformedID, string(n.ID), "%q is no node id", string(n.ID))
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
	counts := map[api.Receptacle]int{}
	for i := range from.Thunderbolt {
		counts[from.Thunderbolt[i].Receptacle]++
	}
	for i := range from.Thunderbolt {
		p := &port{Port: &from.Thunderbolt[i], node: n}
		switch {
		case !p.end().Valid():
			x.notes.add(api.ReasonMalformedDocument, string(n.ID), "%s: %d is no receptacle", n.displayName(), p.Receptacle)
		case counts[p.Receptacle] > 1:
			x.notes.add(api.ReasonSourcesDisagree, p.end().String(), "%s is described twice: neither counts", p.name())
		default:
			n.ports = append(n.ports, p)
		}
	}
	n.rdma = make(map[api.Receptacle]*api.RDMA, len(from.RDMA))
	for i := range from.RDMA {
		r := &from.RDMA[i]
		if _, twice := n.rdma[r.Receptacle]; twice {
			r = nil
		}
		n.rdma[from.RDMA[i].Receptacle] = r
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
	RDMAUnknown map[api.Receptacle]map[string]api.Reason
	// RDMAChanges are the rdma-change documents, one for each cable.
	RDMAChanges []api.RDMAChange
	// Reach are the reach documents.
	Reach []api.Reach
	// Profiles are the link-profile documents.
	Profiles []Profile
	// Faults are the codes of the conditions that the node raised on a receptacle.
	Faults map[api.Receptacle][]api.Reason
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
}

// displayName is what people call a node.
func (n *Node) displayName() string {
	if n.ShortName != "" {
		return n.ShortName
	}
	return n.ID.Display()
}
