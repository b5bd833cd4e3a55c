package node

import (
	"context"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
)

// fetchWithin bounds how long somebody who looks once waits for others' live
// documents.
const fetchWithin = 300 * time.Millisecond

// FetchLive brings the live documents of members that are reached, for somebody
// who looks once: nothing moves them here while nobody watches.
func (n *Node) FetchLive(ctx context.Context, kinds []api.Kind) {
	ctx, cancel := n.within(ctx, fetchWithin, "the members' live documents")
	defer cancel()
	var fetching sync.WaitGroup
	for _, node := range n.inReach() {
		var keys []api.Key
		for _, kind := range []api.Kind{api.KindMemory, api.KindSystem} {
			if (len(kinds) == 0 || slices.Contains(kinds, kind)) && !n.options.Ledger.Interested(kind, node) {
				keys = append(keys, api.Key{Node: node, Kind: kind})
			}
		}
		if len(keys) == 0 {
			continue
		}
		fetching.Go(func() {
			var result api.PeerPullResult
			if err := n.transport.Call(ctx, node, "peer.pull", api.PeerPullParams{Keys: keys}, &result); err != nil {
				n.log.Debug("live documents did not come", "node", node, "error", err)
				return
			}
			for _, doc := range result.Docs {
				if _, err := n.options.Ledger.PutForeign(doc); err != nil {
					n.log.Debug("a live document was not taken", "node", node, "error", err)
				}
			}
		})
	}
	fetching.Wait()
}
