package api

func eventMethods() []MethodInfo {
	return []MethodInfo{
		method[EventSelect, EventListResult]("event.list", ClassRead, "",
			"What happened in the cluster lately, as this node saw it: the newest 500 events since its daemon started. What was already plugged in then is not among them."),
		method[EventSelect, EventWatchResult]("event.watch", ClassRead, "event.happened",
			"event.list, and every event after."),
		method[EventAuditParams, EventAuditResult]("event.audit", ClassUser, "",
			"What others did on this Mac, or were refused, in the last 30 days: other nodes, and people of this Mac who acted as administrators or on the jobs of others. People see what concerns their own account and jobs, administrators all."),
	}
}

// EventSelect says which events.
type EventSelect struct {
	// Since leaves out earlier ones; absent = all that are kept.
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

// EventAuditParams says which entries of the audit.
type EventAuditParams struct {
	// Since leaves out what was last repeated before; absent = all that are kept.
	Since Time `json:"since,omitzero"`
	// Before leaves out entries from this seq on, for the page before another; 0 = the newest page.
	Before uint64 `json:"before,omitempty"`
}

// EventAuditResult is one page of the audit.
type EventAuditResult struct {
	// Entries are at most AuditPage, the oldest first.
	Entries []AuditEntry `json:"entries"`
	// More says that there are older ones: ask with Before as the seq of the first.
	More bool `json:"more,omitempty"`
}
