package event

import (
	"maps"
	"slices"

	"fulmen/daemon/api"
)

// Moment is what one node derives of the cluster at one time, as far as events
// come of its changes. It does not change.
type Moment struct {
	// Nodes are all that are listed.
	Nodes []api.NodeView
	// Cables are all that are plugged.
	Cables []api.Cable
	// Conditions are those that hold, the muted ones too.
	Conditions []api.NodeCondition
	// Jobs are all jobs, the ended ones too.
	Jobs []Job
}

// Job is a job with what everybody may know of it, and what its owner may.
type Job struct {
	api.JobSummary
	// PublicName is what everybody may know of what it runs.
	PublicName string
}

// silent are the nodes that are not reached.
func (m Moment) silent() map[api.NodeID]bool {
	silent := map[api.NodeID]bool{}
	for _, n := range m.Nodes {
		if !n.Liveness.Reached() {
			silent[n.Node] = true
		}
	}
	return silent
}

// After is the moment as it follows another: of a node that is not reached nothing
// is known, and what it said last still counts. A job that has ended stays so: an
// older document of it, by a home that was away, is no news, and its end is said once.
func (m Moment) After(before Moment) Moment {
	m.Jobs = slices.Clone(m.Jobs)
	was := index(before.Jobs, jobKey)
	for i, j := range m.Jobs {
		if old, known := was[jobKey(j)]; known && old.Phase.Ended() && !j.Phase.Ended() {
			m.Jobs[i] = old
		}
	}
	silent := m.silent()
	if len(silent) == 0 {
		return m
	}
	of := func(c api.NodeCondition) bool { return silent[c.Node] }
	m.Conditions = slices.DeleteFunc(slices.Clone(m.Conditions), of)
	for _, c := range before.Conditions {
		if of(c) {
			m.Conditions = append(m.Conditions, c)
		}
	}
	return m
}

// name is what people call a node.
func (m Moment) name(id api.NodeID) string {
	for _, n := range m.Nodes {
		if n.Node == id {
			return n.ShortName
		}
	}
	return id.Display()
}

// key tells things of one sort apart.
type key [3]string

func jobKey(j Job) key { return key{string(j.Job)} }

// index keeps things by their key; of several with one key the last.
func index[V any](all []V, of func(V) key) map[key]V {
	out := make(map[key]V, len(all))
	for _, v := range all {
		out[of(v)] = v
	}
	return out
}

// missing are the things of the first whose keys the second does not have, in the
// order of keys' words.
func missing[V any](of, from map[key]V) []V {
	var out []V
	for _, k := range slices.SortedFunc(maps.Keys(of), func(a, b key) int { return slices.Compare(a[:], b[:]) }) {
		if _, found := from[k]; !found {
			out = append(out, of[k])
		}
	}
	return out
}
