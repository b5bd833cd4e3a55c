package api

import "sync"

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
	// Brief is the same in two or three words, of a condition of a Mac's heat, power or memory; empty of all others.
	Brief string `json:"brief,omitempty"`
	// Remedy is the default advice; empty where there is nothing to do.
	Remedy string `json:"remedy,omitempty"`
	// Command is what to type to see more about it; empty where nothing shows more.
	Command string `json:"command,omitempty"`
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

// Condition is the value of a condition document, and a row of every list of
// what is wrong. Screens show it as it is and add nothing.
type Condition struct {
	// Code is the stable key, from the table of reasons.
	Code Reason `json:"code"`
	// Severity is how much it matters.
	Severity Severity `json:"severity"`
	// Text is one sentence for a person, complete by itself.
	Text string `json:"text"`
	// Remedy is what to do about it.
	Remedy string `json:"remedy,omitempty"`
	// Action is the one thing that a click can do about it.
	Action *Action `json:"action,omitempty"`
	// DependsOn are the codes that, while they hold on the same subject, explain this one, which is then not shown.
	DependsOn []Reason `json:"depends_on,omitempty"`
	// Subject is the id that it is about: node, cable end, link, job or rank; empty = the node that writes.
	Subject string `json:"subject,omitempty"`
	// Since is when it began.
	Since Time `json:"since"`
	// Muted says that a person does not want to see it.
	Muted bool `json:"muted,omitempty"`
}

// IsProblem reports whether it asks for something: it is neither muted nor of severity info.
func (c Condition) IsProblem() bool { return !c.Muted && c.Severity != SeverityInfo }

// Action is something that a click can do.
type Action struct {
	// Kind is how.
	Kind ActionKind `json:"kind"`
	// Label is what the button says.
	Label string `json:"label"`
	// Target is the method, the address of a settings pane, the page of the documentation, or the command.
	Target string `json:"target"`
	// Params are the method's parameters, as text.
	Params map[string]string `json:"params,omitempty"`
}
