package topology

import (
	"cmp"
	"slices"

	"fulmen/daemon/api"
)

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
	var err error
	switch d.Kind {
	case api.KindIdentity:
		n.Identity, err = decoded[api.Identity](d)
		if err == nil {
			n.ShortName, n.IdentityUnknown = n.Identity.ShortName, d.Unknown
		}
	case api.KindNetwork:
		n.Network, err = decoded[api.Network](d)
	case api.KindThunderbolt:
		var v *api.Thunderbolt
		if v, err = decoded[api.Thunderbolt](d); err == nil {
			n.Thunderbolt = append(n.Thunderbolt, Port{Thunderbolt: *v, Unknown: d.Unknown})
		}
	case api.KindRDMA:
		var v *api.RDMA
		if v, err = decoded[api.RDMA](d); err == nil {
			n.RDMA = append(n.RDMA, *v)
			if n.RDMAUnknown == nil {
				n.RDMAUnknown = map[api.Receptacle]map[string]api.Reason{}
			}
			n.RDMAUnknown[v.Receptacle] = d.Unknown
		}
	case api.KindRDMAChange:
		var v *api.RDMAChange
		if v, err = decoded[api.RDMAChange](d); err == nil {
			n.RDMAChanges = append(n.RDMAChanges, *v)
		}
	case api.KindCondition:
		var v *api.Condition
		if v, err = decoded[api.Condition](d); err == nil {
			n.fault(v)
		}
	case api.KindNodeState:
		n.State, err = decoded[api.NodeState](d)
	case api.KindReach:
		var v *api.Reach
		if v, err = decoded[api.Reach](d); err == nil {
			n.Reach = append(n.Reach, *v)
		}
	case api.KindLinkProfile:
		var v *api.LinkProfile
		if v, err = decoded[api.LinkProfile](d); err == nil {
			n.Profiles = append(n.Profiles, Profile{Name: d.Name, LinkProfile: *v, Simulated: d.Simulated})
		}
	}
	return err
}

// fault takes a condition over that is about a receptacle of the node.
func (n *Node) fault(c *api.Condition) {
	end, err := api.ParseLinkEnd(c.Subject)
	if err != nil || end.Node != n.ID {
		return
	}
	if n.Faults == nil {
		n.Faults = map[api.Receptacle][]api.Reason{}
	}
	n.Faults[end.Receptacle] = append(n.Faults[end.Receptacle], c.Code)
}

// decoded is a document's value.
func decoded[T any](d api.SharedDocument) (*T, error) {
	v, err := api.Value[T](d)
	if err != nil {
		return nil, err
	}
	return &v, nil
}
