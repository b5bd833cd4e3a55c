package profile

import (
	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/profile/history"
	"fulmen/daemon/internal/topology"
)

// SubjectsOf are the paths of a graph that a person at a node means, each as the document
// of the node that measures it. Those of nodes that are not reached are left out.
func SubjectsOf(p api.MeasureLinkParams, graph topology.Graph, self api.NodeID, reached []api.NodeID, find func(api.NodeRef) (api.NodeID, error)) ([]api.Key, error) {
	cables := graph.List().Cables
	links, peers := map[api.LinkID]bool{}, map[api.NodeID]bool{}
	for _, ref := range p.Links {
		cable, err := topology.FindCable(cables, ref, find)
		if err != nil {
			return nil, err
		}
		links[cable.Link] = cable.Link.Valid()
	}
	for _, ref := range p.Peers {
		peer, err := find(ref)
		if err != nil {
			return nil, err
		}
		peers[peer] = true
	}
	wanted := func(a, b api.NodeID, link api.LinkID) bool {
		isOwn := a == self || b == self
		isAnybody := len(links) == 0 && len(peers) == 0
		return p.All || links[link] || isOwn && (isAnybody || peers[a] || peers[b])
	}
	var keys []api.Key
	for _, node := range reached {
		owned, _ := graph.Owned(node)
		for _, path := range owned {
			if !path.Stale && path.State != api.PathFailed && wanted(path.From, path.To, path.Link) {
				name := api.PeerAddress{Peer: path.To, Address: path.Address}.String()
				keys = append(keys, api.Key{Node: node, Kind: api.KindLinkProfile, Name: name})
			}
		}
	}
	for _, c := range cables {
		if p.RDMA && c.Link.Valid() && !c.Stale && wanted(c.Link.Low.Node, c.Link.High.Node, c.Link) {
			keys = append(keys, api.Key{Node: c.Link.Low.Node, Kind: api.KindLinkProfile, Name: c.Link.String()})
		}
	}
	return keys, nil
}

// Histories are what paths gave earlier, of those that are wanted.
func Histories(records []*ledger.Record, wanted func(from api.NodeID, v api.LinkProfile) bool) []api.PathHistory {
	all := []api.PathHistory{}
	for _, record := range records {
		var v api.LinkProfile
		key := record.Key()
		if record.Decode(&v) != nil || v.MeasuredAt.IsZero() && len(v.History) == 0 || !wanted(key.Node, v) {
			continue
		}
		all = append(all, api.PathHistory{
			LinkRowKey: api.LinkRowKey{From: key.Node, To: v.Peer, Transport: v.Transport, Name: key.Name},
			Best:       v.Best, Median: v.Median, Results: history.Results(v),
		})
	}
	return all
}

// LastOf are a node's measurements from before a restart.
func LastOf(records []*ledger.Record, node api.NodeID) (gpu *api.GPUProfile, paths map[string]api.LinkProfile) {
	paths = map[string]api.LinkProfile{}
	for _, record := range records {
		key := record.Key()
		var one api.LinkProfile
		var own api.GPUProfile
		switch {
		case key.Node != node:
		case key.Kind == api.KindGPUProfile && record.Decode(&own) == nil:
			gpu = &own
		case key.Kind == api.KindLinkProfile && record.Decode(&one) == nil:
			paths[key.Name] = one
		}
	}
	return gpu, paths
}
