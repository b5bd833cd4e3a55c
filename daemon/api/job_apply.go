package api

// JobApplyParams declares a job.
type JobApplyParams struct {
	// Request is what is wanted. It has a name and no request_id, and reads no input; it is detached in any case.
	Request JobRequest `json:"request"`
	// Environment are the values of Program.Variables. They are kept in memory only, and not compared.
	Environment map[string]string `json:"environment,omitempty"`
	// Replace permits to end a program that runs.
	Replace bool `json:"replace,omitempty"`
	// DryRun only says what would be done.
	DryRun bool `json:"dry_run,omitempty"`
}

// JobApplyResult is what became of a declaration, or would.
type JobApplyResult struct {
	// Outcome is what was done.
	Outcome ApplyOutcome `json:"outcome"`
	// Job is the job that is declared now; absent in a dry run that would make one.
	Job JobID `json:"job,omitempty"`
	// Before is the job in whose place it is.
	Before JobID `json:"before,omitempty"`
	// Changes are the fields in which the two differ, in order.
	Changes []FieldChange `json:"changes,omitempty"`
}

// FieldChange is a field of a request that is another one now.
type FieldChange struct {
	// Field is its name, with dots: placement.ranks.
	Field string `json:"field"`
	// From is its value before, as JSON; absent where it had none.
	From string `json:"from,omitempty"`
	// To is its value now, as JSON; absent where it has none.
	To string `json:"to,omitempty"`
}

// ApplyOutcome is what became of a declaration.
type ApplyOutcome string

const (
	// ApplyCreated is a name that was not declared before.
	ApplyCreated ApplyOutcome = "created"
	// ApplyChanged is a job in the place of one of which no program ran.
	ApplyChanged ApplyOutcome = "changed"
	// ApplyReplaced is a job in the place of one whose program was ended for it.
	ApplyReplaced ApplyOutcome = "replaced"
	// ApplyUnchanged is a job that is there as it is declared, whether it waits, runs or has ended.
	ApplyUnchanged ApplyOutcome = "unchanged"
)

// Values lists the outcomes.
func (ApplyOutcome) Values() []string {
	return words(ApplyCreated, ApplyChanged, ApplyReplaced, ApplyUnchanged)
}

// Valid reports whether the outcome belongs to this version.
func (o ApplyOutcome) Valid() bool { return known(o) }
