package api

func eventMethods() []MethodInfo {
	return []MethodInfo{
		method[EventSelect, EventListResult]("event.list", ClassRead, "",
			"What happened in the cluster lately, as this node saw it: the newest 500 events since its daemon started. What was plugged before that is none."),
		method[EventSelect, EventWatchResult]("event.watch", ClassRead, "event.happened",
			"event.list, and every event after."),
	}
}

// EventSelect says which events.
type EventSelect struct {
	// Since leaves out those of before; absent = all that are kept.
	Since Time `json:"since,omitzero"`
}

// EventListResult is what happened.
type EventListResult struct {
	// Events are the oldest first.
	Events []Event `json:"events"`
	// KeptSince is from when on all are kept: the daemon's start, or the oldest one that is kept.
	KeptSince Time `json:"kept_since"`
}

// EventWatchResult is EventListResult with the subscription that continues it.
type EventWatchResult struct {
	// Sub names the subscription.
	Sub Subscription `json:"sub"`
	EventListResult
}

// EventHappened is what happened since.
type EventHappened struct {
	// Sub names the subscription.
	Sub Subscription `json:"sub"`
	// N numbers the notifications of the subscription, from 1; absent where Lagged.
	N uint64 `json:"n,omitempty"`
	// Events are the oldest first.
	Events []Event `json:"events,omitempty"`
	// Lagged says that events were dropped and the subscription is over.
	Lagged bool `json:"lagged,omitempty"`
}
