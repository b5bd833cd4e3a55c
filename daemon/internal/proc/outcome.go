package proc

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
	// OutOfMemory: it ended for lack of memory; the record says how certain that is.
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

// Outcomes lists every outcome.
func Outcomes() []Outcome {
	return []Outcome{OK, Failed, Crashed, Aborted, OutOfMemory, Killed, Hung, TooLong, Cancelled, Garbled, NoResult, NotStarted}
}
