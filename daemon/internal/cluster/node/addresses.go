package node

import (
	"maps"
	"net/netip"
	"slices"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/transport"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/topology"
	"fulmen/native"
)

// Met is where members answered last, by their ids.
type Met map[api.NodeID][]transport.Candidate

// AddressStore keeps where members answered over a restart: where no discovery
// helps, two nodes that both start anew would not find each other.
type AddressStore interface {
	// LoadMet gives what was saved last; nil if nothing was.
	LoadMet() (Met, error)
	// SaveMet keeps it.
	SaveMet(Met) error
}

// loadMet takes up where members were met before.
func (n *Node) loadMet() {
	met, err := n.options.Addresses.LoadMet()
	if err != nil {
		n.log.Error("where members were met could not be read", "error", err)
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.saved = met
	for node, all := range met {
		n.met[node] = append(n.met[node], all...)
	}
}

// saveMet keeps where members answer now. One that does not answer keeps what
// was known of it, and one that is no member any more is forgotten.
func (n *Node) saveMet() {
	n.mu.Lock()
	defer n.mu.Unlock()
	next := Met{}
	for _, node := range n.options.Roster.Members() {
		var now []transport.Candidate
		for _, path := range n.transport.Paths(node) {
			if path.State == api.PathActive {
				now = append(now, transport.Candidate{Address: path.Address, Interface: path.Interface})
			}
		}
		if len(now) == 0 {
			now = n.saved[node]
		}
		slices.SortFunc(now, func(a, b transport.Candidate) int { return a.Address.Compare(b.Address) })
		if len(now) > 0 {
			next[node] = now
		}
	}
	if maps.EqualFunc(next, n.saved, slices.Equal) {
		return
	}
	if err := n.options.Addresses.SaveMet(next); err != nil {
		n.log.Error("where members were met could not be saved", "error", err)
		return
	}
	n.saved = next
}

// denials are the parts of this node that the system keeps from the local network. Each
// finds out by itself: macOS refuses searches and connections in different words.
type denials struct {
	notify func(detail string)

	mu          sync.Mutex
	search      string
	dial        string
	publicError string
}

// searched is what the last search found out, dialled what the last connection did.
func (d *denials) searched(detail string) {
	d.report(&d.search, "a search was refused, "+detail, detail != "")
}
func (d *denials) dialled(at string) { d.report(&d.dial, "no route to "+at, at != "") }

func (d *denials) report(of *string, text string, isDenied bool) {
	if !isDenied {
		text = ""
	}
	d.mu.Lock()
	defer d.mu.Unlock() // over the telling, so that the last word is the last told
	*of = text
	if now := d.search + d.dial; (now == "") == (d.publicError == "") {
		return
	}
	d.publicError = d.search + d.dial
	d.notify(d.publicError)
}

// reachable are the addresses at which nodes can be reached, as their network documents
// say.
type reachable map[api.NodeID]map[netip.Addr]bool

// follow takes changed documents, and tells which addresses a node has no more.
func (a reachable) follow(change ledger.Change, notify func(api.NodeID, []netip.Addr)) {
	for _, r := range change.Put {
		key := r.Key()
		if key.Kind != api.KindNetwork {
			continue
		}
		if network, err := ledger.Shared[api.Network](r); err == nil {
			a.take(key.Node, network, notify)
		}
	}
}

func (a reachable) take(node api.NodeID, network api.Network, notify func(api.NodeID, []netip.Addr)) {
	now := reachedAt(network)
	var lost []netip.Addr
	for address := range a[node] {
		if !now[address] {
			lost = append(lost, address)
		}
	}
	a[node] = now
	if len(lost) > 0 && len(now) > 0 { // one that has none at all could not tell so
		notify(node, lost)
	}
}

// reachedAt are the addresses, without zones, of interfaces that carry something.
func reachedAt(network api.Network) map[netip.Addr]bool {
	all := map[netip.Addr]bool{}
	for _, i := range network.Interfaces {
		if !i.Up || i.Link != nil && !*i.Link {
			continue
		}
		for _, address := range i.Addresses {
			all[address.Address.Addr().Unmap().WithZone("")] = true
		}
	}
	return all
}

// publishReach publishes which addresses of members have answered, and by what
// they are reached. Everybody is told of each path, so that of a member of whom none is
// published yet that waits until it has said what interfaces it has.
func (n *Node) publishReach(now map[string]api.Reach, graph topology.Graph) {
	before := map[string]api.Reach{}
	isMet := map[api.NodeID]bool{}
	for _, record := range n.options.Ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindReach}, Nodes: []api.NodeID{n.self}}) {
		if reach, err := ledger.Shared[api.Reach](record); err == nil {
			before[record.Key().Name] = reach
			isMet[reach.Peer] = true
		}
	}
	kinds := map[string]api.LinkKind{}
	for _, path := range graph.Paths {
		if path.From == n.self {
			kinds[api.PeerAddress{Peer: path.To, Address: path.Address}.String()] = path.KindNow
		}
	}
	at := api.TimeOf(n.options.Platform.Clock.Now())
	for name, reach := range now {
		if _, hasSpoken := n.options.Ledger.Get(api.Key{Node: reach.Peer, Kind: api.KindNetwork}); !hasSpoken && !isMet[reach.Peer] {
			continue
		}
		last := before[name]
		current := kinds[name]
		if current == "" {
			current = api.LinkUnknown
		}
		kept := topology.KeepKind(topology.KeptKind{Kind: last.Kind, At: last.KindAt}, current, at)
		reach.Kind, reach.KindAt = kept.Kind, kept.At
		if last.Kind == reach.Kind { // confirmed again is no news
			reach.KindAt = last.KindAt
		}
		if reach == last {
			continue // all are looked at whenever one has changed
		}
		n.publish(api.KindReach, name, reach)
	}
	for name := range before {
		if _, stays := now[name]; !stays {
			n.withdraw(api.KindReach, name)
		}
	}
}

// publish publishes what this node says of another one.
func (n *Node) publish(kind api.Kind, name string, value any) {
	if err := n.options.Documents.Put(kind, name, value, nil); err != nil {
		n.log.Error("a document could not be published", "kind", kind, "name", name, "error", err)
	}
}

// withdraw takes it back.
func (n *Node) withdraw(kind api.Kind, name string) {
	if err := n.options.Documents.Delete(kind, name); err != nil {
		n.log.Error("a document could not be withdrawn", "kind", kind, "name", name, "error", err)
	}
}

// reached are the addresses of members with their paths, by the documents' names.
// Of two paths to one address the better one counts.
func (n *Node) reached() map[string]api.Reach {
	all := map[string]api.Reach{}
	for _, node := range n.options.Roster.Members() {
		if node == n.self {
			continue
		}
		for _, path := range n.transport.Paths(node) {
			address := native.Zoned(path.Address.Addr(), path.Interface)
			at := api.PeerAddress{Peer: node, Address: address}
			name := at.String()
			if _, known := all[name]; known || !at.Valid() {
				continue
			}
			reach := api.Reach{
				Peer: node, Address: address, Port: int(path.Address.Port()), Interface: path.Interface, Source: path.Source,
				PeerInterface: path.PeerInterface, Kind: api.LinkUnknown, VerifiedAt: api.TimeOf(path.Since), State: path.State,
			}
			if path.State == api.PathFailed {
				reach.FailedAt, reach.Reason = api.TimeOf(path.Since), path.Reason
			}
			all[name] = reach
		}
	}
	return all
}
