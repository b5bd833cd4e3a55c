package metrics

import "fulmen/daemon/api"

// Source is what is shown.
type Source struct {
	// Version is that of Fulmen, Node this node.
	Version string
	Node    api.NodeID
	// Nodes are the members as this node sees them, with the totals.
	Nodes func() api.NodeListResult
	// Links is the graph.
	Links func() api.LinkListResult
	// Docs are the documents of some kinds.
	Docs func(kinds ...api.Kind) []api.Document
	// Measurements are how many measurements of this node's subjects have ended.
	Measurements func() []Measurements
	// Missed is how many changes of this machine no event announced.
	Missed func() uint64
}

// Measurements is a number of measurements that have ended alike.
type Measurements struct {
	// Kind is what was measured.
	Kind api.Kind
	// IsAsked says that somebody asked for it.
	IsAsked bool
	// State is how they ended.
	State api.MeasureState
	// Count is how many.
	Count uint64
}

// kinds are the documents that are read at a scrape.
func kinds() []api.Kind {
	return []api.Kind{api.KindGPUProfile, api.KindMemory, api.KindSystem, api.KindCondition, api.KindJob}
}
