package api

func stateMethods() []MethodInfo {
	return []MethodInfo{
		method[StateSelect, StateGetResult]("state.get", ClassRead, "",
			"The documents of some kinds and nodes as they are now."),
		method[StateSelect, StateWatchResult]("state.watch", ClassRead, "state.changed",
			"The same, and every change after, without a gap in between. Kinds that move only while watched begin to move."),
		method[StateUnwatch, Empty]("state.unwatch", ClassRead, "",
			"Ends a subscription of any group."),
	}
}

// StateSelect says which documents. Both lists empty means all that the caller may see.
type StateSelect struct {
	// Kinds are the kinds wanted; empty = all.
	Kinds []Kind `json:"kinds,omitempty"`
	// Nodes are the nodes wanted; empty = all.
	Nodes []NodeRef `json:"nodes,omitempty"`
}

// StateGetResult is a snapshot.
type StateGetResult struct {
	// Docs are the documents, ordered by node, kind and name.
	Docs []Document `json:"docs"`
	// Stale are the nodes that cannot be reached now; their documents may be old.
	Stale []NodeID `json:"stale,omitempty"`
	// More says that the snapshot did not fit a message; state.watch gives all of it.
	More bool `json:"more,omitempty"`
}

// StateWatchResult is a snapshot and the subscription that continues it.
type StateWatchResult struct {
	// Sub names the subscription.
	Sub Subscription `json:"sub"`
	// Docs are the documents, ordered by node, kind and name.
	Docs []Document `json:"docs"`
	// Stale are the nodes that cannot be reached now; their documents may be old.
	Stale []NodeID `json:"stale,omitempty"`
	// More says that the rest of the snapshot follows in state.changed, up to the first without More.
	More bool `json:"more,omitempty"`
}

// StateUnwatch ends a subscription.
type StateUnwatch struct {
	// Sub names the subscription.
	Sub Subscription `json:"sub"`
}

// StateChanged is what changed, or that the client lagged: then the
// subscription is over and a new one takes a new snapshot.
type StateChanged struct {
	// Sub names the subscription.
	Sub Subscription `json:"sub"`
	// N numbers the notifications of the subscription, from 1 without a gap; absent where Lagged.
	N uint64 `json:"n,omitempty"`
	// Put are the new and changed documents.
	Put []Document `json:"put,omitempty"`
	// Del are the documents that are gone.
	Del []Key `json:"del,omitempty"`
	// Stale are the nodes that cannot be reached now; absent where that did not change.
	Stale []NodeID `json:"stale,omitzero"`
	// More says that this is a part of the first snapshot and another follows.
	More bool `json:"more,omitempty"`
	// Lagged says that changes were dropped, because the client read too slowly.
	Lagged bool `json:"lagged,omitempty"`
}
