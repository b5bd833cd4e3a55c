package config

import (
	"slices"

	"fulmen/daemon/api"
)

// Status is how the file and what is in force relate.
type Status struct {
	// Error is what is wrong with the file; what was in force before still is.
	// nil if the file is in force.
	Error *api.Error
	// Unwatched is why a change of the file will not be noticed; nil if it will.
	Unwatched *api.Error
	// Restart are the keys whose value in the file waits for a restart.
	Restart []string
}

func (s Status) equal(o Status) bool {
	return sameError(s.Error, o.Error) && sameError(s.Unwatched, o.Unwatched) && slices.Equal(s.Restart, o.Restart)
}

func sameError(a, b *api.Error) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Message == b.Message
}

// Conditions are what the node's health conditions show of it.
func (s Status) Conditions(since api.Time) []api.Condition {
	var out []api.Condition
	for _, e := range []*api.Error{s.Error, s.Unwatched} {
		if e != nil {
			out = append(out, api.Condition{Code: e.Data.Reason, Severity: api.SeverityWarning, Text: e.Message,
				Remedy: e.Data.Remedy, Subject: e.Data.Subject, Since: since})
		}
	}
	for _, key := range s.Restart {
		out = append(out, api.Condition{Code: api.ReasonNeedsRestart, Severity: api.SeverityInfo, Subject: key, Since: since,
			Text: "The new value of " + key + " takes effect after a restart of the daemon."})
	}
	return out
}
