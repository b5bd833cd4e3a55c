package api

func measureMethods() []MethodInfo {
	return []MethodInfo{
		method[MeasureGPUParams, MeasureStarted]("measure.gpu", ClassUser, "measure.changed",
			"Measures GPUs, one run at a time on each node, and reports progress."),
		method[MeasureLinkParams, MeasureStarted]("measure.link", ClassUser, "measure.changed",
			"Measures paths to peers over sockets, and cables over RDMA where asked, and reports progress."),
		method[MeasureSelect, Measurement]("measure.get", ClassRead, "",
			"One measurement as it is now; finished ones are kept for an hour."),
		method[Empty, MeasureListResult]("measure.list", ClassRead, "",
			"The measurements that wait, run, or finished in the last hour."),
		method[MeasureSelect, MeasureStarted]("measure.watch", ClassRead, "measure.changed",
			"Follows a measurement that somebody else began."),
		method[MeasureSelect, Empty]("measure.cancel", ClassUser, "",
			"Ends a measurement of one's own."),
	}
}

// MeasureGPUParams says what to measure.
type MeasureGPUParams struct {
	// Nodes are the nodes; empty = this one.
	Nodes []NodeRef `json:"nodes,omitempty"`
	// All means every node that is reached.
	All bool `json:"all,omitempty"`
	// MaxAgeS accepts an earlier result that is not older; 0 = measure now.
	MaxAgeS float64 `json:"max_age_s,omitempty"`
}

// MeasureLinkParams says what to measure.
type MeasureLinkParams struct {
	// Links are cables, measured over sockets and, with RDMA, over RDMA. With nothing named, it is all paths of this node.
	Links []LinkRef `json:"links,omitempty"`
	// Networks are lines of link.list that are no cables, such as the Wi-Fi between two nodes.
	Networks []NetworkLineKey `json:"networks,omitempty"`
	// Peers are nodes to which all paths are measured.
	Peers []NodeRef `json:"peers,omitempty"`
	// All means every path between nodes that are reached.
	All bool `json:"all,omitempty"`
	// RDMA measures over RDMA too; never done unasked.
	RDMA bool `json:"rdma,omitempty"`
	// MaxAgeS accepts an earlier result that is not older; 0 = measure now.
	MaxAgeS float64 `json:"max_age_s,omitempty"`
}

// MeasureSelect names a measurement.
type MeasureSelect struct {
	// Measurement is the id.
	Measurement MeasureID `json:"measurement"`
}

// MeasureStarted is the measurement and the subscription that follows it.
type MeasureStarted struct {
	// Sub names the subscription.
	Sub Subscription `json:"sub"`
	// Measurement is its state now.
	Measurement Measurement `json:"measurement"`
}

// MeasureListResult lists measurements.
type MeasureListResult struct {
	// Measurements are ordered by start, the newest first.
	Measurements []Measurement `json:"measurements"`
}

// MeasureChanged is the progress of a measurement.
type MeasureChanged struct {
	// Sub names the subscription.
	Sub Subscription `json:"sub"`
	// N numbers the notifications of the subscription, from 1.
	N uint64 `json:"n"`
	// Measurement is its state now.
	Measurement Measurement `json:"measurement"`
	// Terminal says that it has ended and nothing follows.
	Terminal bool `json:"terminal,omitempty"`
}

// Measurement is one run over one or more subjects.
type Measurement struct {
	// ID is its id.
	ID MeasureID `json:"id"`
	// By is who asked; absent where the daemon did.
	By Principal `json:"by,omitzero"`
	// State is how far it has come.
	State MeasureState `json:"state"`
	// StartedAt is when it was asked for.
	StartedAt Time `json:"started_at"`
	// Items are its subjects, in the order in which they are measured.
	Items []MeasureItem `json:"items"`
}

// MeasureItem is one subject of a measurement.
type MeasureItem struct {
	// Document is the profile that it fills.
	Document Key `json:"document"`
	// State is how far it has come.
	State MeasureState `json:"state"`
	// Step says in words what is being done.
	Step string `json:"step,omitempty"`
	// DoneRatio is the part that is done, as far as that can be told.
	DoneRatio *float64 `json:"done_ratio,omitempty"`
	// WaitingFor says for what it waits, and on whom.
	WaitingFor string `json:"waiting_for,omitempty"`
	// Error is why it failed.
	Error *Error `json:"error,omitempty"`
}
