package api

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

// Severity is how much a condition matters.
type Severity string

const (
	// SeverityInfo is worth knowing.
	SeverityInfo Severity = "info"
	// SeverityWarning is something that works worse than it could.
	SeverityWarning Severity = "warning"
	// SeverityError is something that does not work.
	SeverityError Severity = "error"
)

// Values lists the severities, from the least.
func (Severity) Values() []string { return words(SeverityInfo, SeverityWarning, SeverityError) }

// Valid reports whether the severity belongs to this version.
func (s Severity) Valid() bool { return known(s) }

// ActionKind is how an action is done.
type ActionKind string

const (
	// ActionMethod calls a method.
	ActionMethod ActionKind = "method"
	// ActionSettings opens a pane of the system's settings.
	ActionSettings ActionKind = "settings"
	// ActionDocs opens a page of the documentation.
	ActionDocs ActionKind = "docs"
	// ActionCommand shows a command to type.
	ActionCommand ActionKind = "command"
)

// Values lists the kinds.
func (ActionKind) Values() []string {
	return words(ActionMethod, ActionSettings, ActionDocs, ActionCommand)
}

// Valid reports whether the kind belongs to this version.
func (k ActionKind) Valid() bool { return known(k) }
