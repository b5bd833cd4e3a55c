package daemon

import (
	"cmp"
	"net/http"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/metrics"
)

// metrics answers scrapes with what this node knows, without asking others.
func (d *daemon) metrics() http.Handler {
	return metrics.Handler(metrics.Source{
		Version: d.options.Version, Node: d.identity.Node,
		Nodes: func() api.NodeListResult { return d.nodes.Current().List() },
		Links: d.graph.Current,
		Docs: func(kinds ...api.Kind) (docs []api.Document) {
			for _, record := range d.ledger.List(ledger.Filter{Kinds: kinds}) {
				docs = append(docs, record.Document())
			}
			return docs
		},
		Measurements: func() (all []metrics.Measurements) {
			for c, n := range d.profiler.Counts() {
				all = append(all, metrics.Measurements{Kind: c.Kind, IsAsked: c.IsAsked, State: c.State, Count: n})
			}
			slices.SortFunc(all, func(a, b metrics.Measurements) int {
				return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.State, b.State))
			})
			return all
		},
		Missed: d.facts.Missed,
	})
}
