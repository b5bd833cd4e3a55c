package api

// Attempt is one try at running a job: a plan, and what came of it.
type Attempt struct {
	// Attempt is its number, from 1.
	Attempt int `json:"attempt"`
	// Plan is who runs what, over which cables.
	Plan *Plan `json:"plan,omitempty"`
	// StartedAt is when its first rank was asked for.
	StartedAt Time `json:"started_at,omitzero"`
	// EndedAt is when its last rank was known to have ended.
	EndedAt Time `json:"ended_at,omitzero"`
	// Joined lists the ranks that have completed the handshake.
	Joined []int `json:"joined,omitempty"`
	// Reason is why it ended, or cannot start.
	Reason Reason `json:"reason,omitempty"`
	// Message is the reason as one sentence for a person.
	Message string `json:"message,omitempty"`
	// FirstFailed is the rank that failed first, the cause of the others' end.
	FirstFailed *int `json:"first_failed,omitempty"`
	// ExitCode is the first failing rank's own, or 0.
	ExitCode *int `json:"exit_code,omitempty"`
	// Uncounted says that it failed before any rank had joined and does not count against the retries.
	Uncounted bool `json:"uncounted,omitempty"`
	// Replanned says that nothing of it was started: what its nodes have does not fit its plan, and another was made at once.
	Replanned bool `json:"replanned,omitempty"`
}
