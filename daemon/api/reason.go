package api

import (
	"slices"
	"sync"
)

// Reason is the stable snake_case key of why something is so. Errors, health
// conditions, phases of jobs and the unknown fields of documents share one
// table of them, and so do the golden texts. A Reason is itself an error, for
// errors.Is.
type Reason string

// Error makes a reason a target for errors.Is.
func (r Reason) Error() string { return string(r) }

// ReasonInfo is a row of the table of reasons.
type ReasonInfo struct {
	// Reason is the key.
	Reason Reason `json:"reason"`
	// Code is the group of errors with this reason; 0 where it is never an error.
	Code Code `json:"code,omitempty"`
	// Severity is that of the health condition with this code; empty where it is never one.
	Severity Severity `json:"severity,omitempty"`
	// Unknown says that the reason may stand for a missing field of a document.
	Unknown bool `json:"unknown,omitempty"`
	// Text is the default sentence for people, without the subject.
	Text string `json:"text"`
	// Remedy is the default advice; empty where there is nothing to do.
	Remedy string `json:"remedy,omitempty"`
	// Command is what to type to see more about it; empty where nothing shows more.
	Command string `json:"command,omitempty"`
}

// Reasons lists every reason, grouped by what it is about.
func Reasons() []ReasonInfo {
	return slices.Concat(requestReasons(), accessReasons(), clusterReasons(), factReasons(), linkReasons(),
		rdmaReasons(), jobReasons(), rankReasons(), measureReasons(), daemonReasons())
}

// LookupReason finds a reason's row.
func LookupReason(r Reason) (ReasonInfo, bool) {
	info, ok := reasonIndex()[r]
	return info, ok
}

// reasonIndex is built at the first look-up and never changes.
var reasonIndex = sync.OnceValue(func() map[Reason]ReasonInfo {
	index := make(map[Reason]ReasonInfo)
	for _, info := range Reasons() {
		index[info.Reason] = info
	}
	return index
})
