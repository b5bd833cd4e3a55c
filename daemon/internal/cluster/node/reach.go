package node

import (
	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/topology"
	"fulmen/native"
)

// publishReach publishes which addresses of members have answered, and by what
// they are reached.
func (n *Node) publishReach() {
	before := map[string]api.Reach{}
	for _, record := range n.options.Ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindReach}, Nodes: []api.NodeID{n.self}}) {
		var reach api.Reach
		if record.Decode(&reach) == nil {
			before[record.Key().Name] = reach
		}
	}
	now := n.reached()
	kinds := map[string]api.LinkKind{}
	for _, path := range n.graph(now).Paths {
		if path.From == n.self {
			kinds[api.PeerAddress{Peer: path.To, Address: path.Address}.String()] = path.KindNow
		}
	}
	at := api.TimeOf(n.options.Platform.Clock.Now())
	for name, reach := range now {
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
		if err := n.options.Documents.Put(api.KindReach, name, reach, nil); err != nil {
			n.log.Error("a path could not be published", "name", name, "error", err)
		}
	}
	for name := range before {
		if _, stays := now[name]; !stays {
			if err := n.options.Documents.Delete(api.KindReach, name); err != nil {
				n.log.Error("a path that is gone could not be withdrawn", "name", name, "error", err)
			}
		}
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
