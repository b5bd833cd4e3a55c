package profile

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/topology"
	"fulmen/daemon/internal/topology/history"
	"fulmen/native"
)

// Subjects are the paths of a graph that a person at this node means, each as the document
// of the node that measures it, with the loopback of the machine below a simulated one.
// Those of nodes that are not reached are left out.
func (m *Paths) Subjects(p api.MeasureLinkParams, graph topology.Graph, reached []api.NodeID, find func(api.NodeRef) (api.NodeID, error)) ([]api.Key, error) {
	cables := graph.List().Cables
	links := map[api.LinkID]bool{}
	for _, ref := range p.Links {
		cable, err := topology.FindCable(cables, ref, find)
		if err != nil {
			return nil, err
		}
		links[cable.Link] = cable.Link.Valid()
	}
	peers, err := topology.FindAll(p.Peers, find)
	if err != nil {
		return nil, err
	}
	wanted := func(a, b api.NodeID, link api.LinkID) bool {
		isOwn := a == m.cfg.Node || b == m.cfg.Node
		isAnybody := len(links) == 0 && len(peers) == 0 && len(p.Networks) == 0
		return p.All || links[link] || isOwn && (isAnybody || slices.Contains(peers, a) || slices.Contains(peers, b))
	}
	isNetwork := func(path topology.Path) bool {
		line := api.NetworkLineKey{Low: min(path.From, path.To), High: max(path.From, path.To), Kind: path.Kind}
		return !path.Link.Valid() && slices.Contains(p.Networks, line)
	}
	var keys []api.Key
	for _, node := range reached {
		owned, _ := graph.Owned(node)
		for _, path := range owned {
			if !path.Stale && path.State != api.PathFailed && (isNetwork(path) || wanted(path.From, path.To, path.Link)) {
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
	if p.All && m.cfg.Record != nil {
		lowest := slices.Min(m.cfg.Members())
		keys = append(keys, api.Key{Node: lowest, Kind: api.KindLinkProfile, Name: api.PeerAddress{Peer: lowest, Address: m.cfg.LoopbackAddress}.String()})
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

const (
	// wantedAfter is how long after a job was placed measurements are looked at: one
	// that starts at once goes first.
	wantedAfter = 5 * time.Second
	// wantedFor is how long they are then wanted.
	wantedFor = time.Minute
)

// Asking wants fresh measurements for a while after placement has read them: the
// next placement has use for them.
type Asking struct {
	want  func() (done func())
	clock native.Clock
	ctx   context.Context
	// Close ends it.
	Close context.CancelFunc
	busy  atomic.Bool // they are wanted, or soon will be
}

// NewAsking wants them by want.
func NewAsking(clock native.Clock, want func() (done func())) *Asking {
	a := &Asking{want: want, clock: clock}
	a.ctx, a.Close = context.WithCancel(context.Background())
	return a
}

// Ask says that placement has read measurements.
func (a *Asking) Ask() {
	if a.ctx.Err() != nil || !a.busy.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer a.busy.Store(false)
		if native.Pause(a.ctx, a.clock, wantedAfter) {
			defer a.want()()
			native.Pause(a.ctx, a.clock, wantedFor)
		}
	}()
}
