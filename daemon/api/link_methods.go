package api

func linkMethods() []MethodInfo {
	return []MethodInfo{
		method[Empty, LinkListResult]("link.list", ClassRead, "",
			"Every cable and every measured path, derived from the documents of both ends."),
		method[LinkSelect, LinkGetResult]("link.get", ClassRead, "",
			"One cable with its measurements and its readiness for RDMA."),
		method[Empty, LinkWatchResult]("link.watch", ClassRead, "link.changed",
			"link.list, and every change after."),
		method[LinkHistoryParams, LinkHistoryResult]("link.history", ClassRead, "",
			"Earlier measurements of a cable or of all paths to a peer."),
		method[LinkMute, Empty]("link.mute", ClassUser, "",
			"Mutes the warnings of a cable on this node, or no longer."),
		method[LinkExportParams, LinkExportResult]("link.export", ClassRead, "",
			"The graph for other tools: GraphViz, MLX's host file, JACCL's device matrix, JSON."),
	}
}

// LinkSelect names a cable.
type LinkSelect struct {
	// Link is the cable.
	Link LinkRef `json:"link"`
}

// LinkListResult is the graph.
type LinkListResult struct {
	// Cables are what is plugged, ordered by id.
	Cables []Cable `json:"cables"`
	// Rows are the measured paths, ordered by nodes and kind.
	Rows []LinkRow `json:"rows"`
	// Loops are the rings of nodes whose bridged cables would flood the network.
	Loops [][]NodeID `json:"loops,omitempty"`
}

// LinkGetResult is one cable.
type LinkGetResult struct {
	// Cable is what is plugged.
	Cable Cable `json:"cable"`
	// Rows are its measurements over sockets and RDMA.
	Rows []LinkRow `json:"rows"`
	// RDMA is its readiness.
	RDMA RDMAReadiness `json:"rdma"`
}

// LinkWatchResult is LinkListResult with the subscription that continues it.
type LinkWatchResult struct {
	// Sub names the subscription.
	Sub Subscription `json:"sub"`
	LinkListResult
}

// LinkChanged is what changed in the graph.
type LinkChanged struct {
	// Sub names the subscription.
	Sub Subscription `json:"sub"`
	// N numbers the notifications of the subscription, from 1; absent where Lagged.
	N uint64 `json:"n,omitempty"`
	// Cables are those that are new or changed. One replaces the last with the same id, or, without an id, with the same end and peer name.
	Cables []Cable `json:"cables,omitempty"`
	// GoneCables are first ends, each without any of its cables now, but for those in Cables.
	GoneCables []LinkEnd `json:"gone_cables,omitempty"`
	// Rows are those that are new or changed; one with the same key replaces the last.
	Rows []LinkRow `json:"rows,omitempty"`
	// GoneRows are the paths that are no more.
	GoneRows []LinkRowKey `json:"gone_rows,omitempty"`
	// Loops replace the last ones; absent where they did not change.
	Loops [][]NodeID `json:"loops,omitzero"`
	// Lagged says that changes were dropped and the subscription is over.
	Lagged bool `json:"lagged,omitempty"`
}

// LinkHistoryParams says of what.
type LinkHistoryParams struct {
	// Link is the cable; empty where Peer is given. With neither, it is every path.
	Link LinkRef `json:"link,omitempty"`
	// Peer is the other end of the paths; empty where Link is given.
	Peer NodeRef `json:"peer,omitempty"`
}

// LinkHistoryResult is the paths with their earlier results.
type LinkHistoryResult struct {
	// Paths are the paths, each with its history.
	Paths []PathHistory `json:"paths"`
}

// PathHistory is one path's history.
type PathHistory struct {
	LinkRowKey
	// Best is the best result in each number.
	Best *LinkResult `json:"best,omitempty"`
	// Median is the middle in each number.
	Median *LinkResult `json:"median,omitempty"`
	// Results are the results, the newest first.
	Results []LinkResult `json:"results"`
}

// LinkMute mutes a cable.
type LinkMute struct {
	// Link is the cable.
	Link LinkRef `json:"link"`
	// Muted is whether its warnings are muted.
	Muted bool `json:"muted"`
}

// LinkExportParams says in which form, for which nodes.
type LinkExportParams struct {
	// Form is the form.
	Form ExportForm `json:"form"`
	// Nodes are the nodes in the order of ranks; empty = all.
	Nodes []NodeRef `json:"nodes,omitempty"`
	// Backend is the one for which a host file or matrix is meant.
	Backend Backend `json:"backend,omitempty"`
}

// LinkExportResult is the text of the file.
type LinkExportResult struct {
	// Text is the file's content.
	Text string `json:"text"`
	// Notes are what a person should know about it.
	Notes []Cause `json:"notes,omitempty"`
}

// ExportForm is a form of the graph for other tools.
type ExportForm string

const (
	// ExportJSON is LinkListResult.
	ExportJSON ExportForm = "json"
	// ExportDOT is GraphViz.
	ExportDOT ExportForm = "dot"
	// ExportHostfile is MLX's host file.
	ExportHostfile ExportForm = "hostfile"
	// ExportMatrix is JACCL's device matrix.
	ExportMatrix ExportForm = "matrix"
)

// Values lists the forms.
func (ExportForm) Values() []string {
	return words(ExportJSON, ExportDOT, ExportHostfile, ExportMatrix)
}

// Valid reports whether the form belongs to this version.
func (f ExportForm) Valid() bool { return known(f) }
