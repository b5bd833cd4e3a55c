package proc

import "fulmen/daemon/api/worker"

// Record is what became of one run, with the evidence.
type Record struct {
	// Outcome is what became of it.
	Outcome Outcome
	// Sentence says it to a person, complete by itself.
	Sentence string
	// Word is its last word: a result or an error; nil where it had none.
	Word *worker.Message
	// Doing is the stage that it told last, cleaned for a screen; "" where none.
	Doing string
	// Logs are its first remarks, at most 64.
	Logs []worker.Log

	// PID was its process id; 0 where it was not started.
	PID int
	// ExitCode is its exit status; -1 where a signal ended it or it was not started.
	ExitCode int
	// Signal is the name of the signal that ended it: "SIGSEGV"; "" where none did.
	Signal string
	// KilledAfterGrace says that it did not end by itself when it should have,
	// and got SIGKILL from here.
	KilledAfterGrace bool
	// PipesHeld says that a process that had left the group still held the
	// pipes when the worker had ended; they were closed on this side.
	PipesHeld bool
	// Stuck says that even SIGKILL did not end it, as inside a driver. It is
	// reaped whenever it ends.
	Stuck bool
	// StartErr is why it could not be started.
	StartErr error

	// MaxRSSBytes is the most memory that it had resident.
	MaxRSSBytes int64
	// Stdout and Stderr are the beginning and the end of what it printed, with a line
	// in place of what was not kept.
	Stdout, Stderr string
}

// Outcome is what became of a worker.
type Outcome string

const (
	// OK: it gave its result.
	OK Outcome = "ok"
	// Failed: it said itself why it has none; the record has its words.
	Failed Outcome = "failed"
	// Crashed: a fault in its own code ended it.
	Crashed Outcome = "crashed"
	// Aborted: it gave up by abort(), as MLX does when an error has nobody to go to.
	Aborted Outcome = "aborted"
	// OutOfMemory: it ended for lack of memory; the sentence says how certain that is.
	OutOfMemory Outcome = "out_of_memory"
	// Killed: somebody else ended it by a signal.
	Killed Outcome = "killed"
	// Hung: it said nothing for too long and was ended.
	Hung Outcome = "hung"
	// TooLong: its deadline passed and it was ended.
	TooLong Outcome = "too_long"
	// Cancelled: it was ended on request.
	Cancelled Outcome = "cancelled"
	// Garbled: it wrote something to descriptor 3 that is no message, and was ended.
	Garbled Outcome = "garbled"
	// NoResult: it ended as if all were well, without a result.
	NoResult Outcome = "no_result"
	// NotStarted: it could not be started; the record has the cause.
	NotStarted Outcome = "not_started"
)
