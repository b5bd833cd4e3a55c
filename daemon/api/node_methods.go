package api

func nodeMethods() []MethodInfo {
	return []MethodInfo{
		method[Empty, NodeListResult]("node.list", ClassRead, "",
			"Every node with what can be derived about it: whether it is reached, by which paths, and the totals of the cluster."),
		method[NodeSelect, NodeGetResult]("node.get", ClassRead, "",
			"One node with all its documents."),
		method[Empty, NodeWatchResult]("node.watch", ClassRead, "node.changed",
			"node.list, and every change after."),
		method[NodeRename, Empty]("node.rename", ClassAdmin, "",
			"Gives this node another friendly name."),
		method[NodeConditionsParams, NodeConditionsResult]("node.conditions", ClassRead, "",
			"What is wrong, worst first: the nodes' own conditions and those derived here."),
	}
}

// NodeSelect names a node.
type NodeSelect struct {
	// Node is the node; empty = this one.
	Node NodeRef `json:"node,omitempty"`
}

// NodeListResult is every node and the totals.
type NodeListResult struct {
	// Nodes are ordered by short name, this node first.
	Nodes []NodeView `json:"nodes"`
	// Totals are of the nodes that are reached.
	Totals Totals `json:"totals"`
}

// NodeGetResult is one node with its documents.
type NodeGetResult struct {
	// Node is what is derived.
	Node NodeView `json:"node"`
	// Docs are its documents.
	Docs []Document `json:"docs"`
}

// NodeWatchResult is NodeListResult with the subscription that continues it.
type NodeWatchResult struct {
	// Sub names the subscription.
	Sub Subscription `json:"sub"`
	NodeListResult
}

// NodeChanged is what changed among the nodes.
type NodeChanged struct {
	// Sub names the subscription.
	Sub Subscription `json:"sub"`
	// N numbers the notifications of the subscription, from 1; absent where Lagged.
	N uint64 `json:"n,omitempty"`
	// Put are the nodes that changed.
	Put []NodeView `json:"put,omitempty"`
	// Del are the nodes that are gone.
	Del []NodeID `json:"del,omitempty"`
	// Totals are the new totals.
	Totals *Totals `json:"totals,omitempty"`
	// Lagged says that changes were dropped and the subscription is over.
	Lagged bool `json:"lagged,omitempty"`
}

// NodeRename is a new name.
type NodeRename struct {
	// Name is the new friendly name, 1 to 63 characters; empty = follow the computer's name.
	Name string `json:"name"`
}

// NodeConditionsParams says whose conditions.
type NodeConditionsParams struct {
	// Nodes are the nodes wanted; empty = all.
	Nodes []NodeRef `json:"nodes,omitempty"`
	// Muted includes those that a person muted.
	Muted bool `json:"muted,omitempty"`
}

// NodeConditionsResult is what is wrong.
type NodeConditionsResult struct {
	// Conditions are ordered by severity, the worst first, then by age, the newest first.
	Conditions []NodeCondition `json:"conditions"`
}

// NodeCondition is a condition with the node that says so.
type NodeCondition struct {
	// Node is who says so.
	Node NodeID `json:"node"`
	// Others say the same, such as the node at a cable's other end.
	Others []NodeID `json:"others,omitempty"`
	Condition
}
