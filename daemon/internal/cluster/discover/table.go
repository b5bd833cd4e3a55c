package discover

import (
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
)

// table tells whose an id of the day is.
type table struct {
	cluster api.ClusterID
	nodes   []api.NodeID
	day     string
	ids     map[string]api.NodeID
}

// day names the day of an instant.
func day(now time.Time) string { return now.UTC().Format(time.DateOnly) }

// build makes the ids of all nodes, of today, yesterday and tomorrow: clocks
// differ, and midnight comes.
func (t *table) build(now time.Time) {
	t.day, t.ids = day(now), make(map[string]api.NodeID, 3*len(t.nodes))
	for _, node := range t.nodes {
		for days := -1; days <= 1; days++ {
			t.ids[cluster.DailyID(t.cluster, node, cluster.UseAnnounce, now.UTC().AddDate(0, 0, days))] = node
		}
	}
}
