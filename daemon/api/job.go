package api

import "encoding/json"

// Job is the value of a job document, written by the job's home. A new home
// writes a document of its own with Epoch one higher; the highest epoch counts.
type Job struct {
	// Spec is the exact bytes of a JobSpec, as the submitter's node signed them.
	Spec json.RawMessage `json:"spec"`
	// SpecSig is the submitter's node's Ed25519 signature, by SpecSigningBytes.
	SpecSig []byte `json:"spec_sig"`
	// SpecSHA256 is SHA-256 of Spec, lower-case hex.
	SpecSHA256 string `json:"spec_sha256"`
	// Principal is who submitted it, as in the spec.
	Principal Principal `json:"principal"`
	// Home is the node that drives the job, the writer of the document.
	Home NodeID `json:"home"`
	// Epoch counts the homes, from 1.
	Epoch uint64 `json:"epoch"`
	// Homes prove that Home is it, at Epoch: one step for each change since the spec's
	// first home, the oldest first.
	Homes []Succession `json:"homes,omitempty"`
	// NextHome is the node that was asked to be the home. Until it answers nobody
	// knows whether it is one already, under the epoch after this.
	NextHome NodeID `json:"next_home,omitempty"`
	// Phase is where the job is.
	Phase JobPhase `json:"phase"`
	// PhaseSince is when it got there.
	PhaseSince Time `json:"phase_since"`
	// Reason is why it is there, where that needs saying.
	Reason Reason `json:"reason,omitempty"`
	// Message is the reason as one sentence for a person.
	Message string `json:"message,omitempty"`
	// WaitingFor says for what it waits, and on whom.
	WaitingFor string `json:"waiting_for,omitempty"`
	// Attempt is the number of the current attempt, from 1; 0 before the first.
	Attempt int `json:"attempt"`
	// CountedAttempts are those that failed before every rank had joined and count
	// against the spec's MaxAttempts.
	CountedAttempts int `json:"counted_attempts,omitempty"`
	// Retried are those that failed after that and count against the spec's Retries.
	Retried int `json:"retried,omitempty"`
	// NextAttemptAt is when the next attempt is due; in backoff only.
	NextAttemptAt Time `json:"next_attempt_at,omitzero"`
	// Attempts are all attempts, the oldest first.
	Attempts []Attempt `json:"attempts,omitempty"`
	// Phases are the phases with their times, the oldest first.
	Phases []PhaseTime `json:"phases,omitempty"`
	// StopRequested says who asked to stop it.
	StopRequested *StopRequest `json:"stop_requested,omitempty"`
	// ExitCode is the job's own, once it has ended: see ExitCode.
	ExitCode *int `json:"exit_code,omitempty"`
	// EndedAt is when it ended.
	EndedAt Time `json:"ended_at,omitzero"`
}

// PhaseTime is when a job entered a phase.
type PhaseTime struct {
	// Phase is the phase.
	Phase JobPhase `json:"phase"`
	// Attempt is the attempt then.
	Attempt int `json:"attempt"`
	// At is when.
	At Time `json:"at"`
}

// StopRequest is somebody's wish to end a job.
type StopRequest struct {
	// By is who asked.
	By Principal `json:"by"`
	// At is when.
	At Time `json:"at"`
	// Kill skips the grace.
	Kill bool `json:"kill,omitempty"`
}

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
