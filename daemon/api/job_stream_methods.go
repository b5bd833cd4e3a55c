package api

import "net/netip"

// JobGetResult is a job with its ranks.
type JobGetResult struct {
	// Job is the job's document.
	Job Document `json:"job"`
	// Ranks are the documents of its current attempt's ranks, ordered by rank.
	Ranks []Document `json:"ranks"`
	// Published are its ports that are open on this node now; for its owner only.
	Published []PublishedPort `json:"published,omitempty"`
}

// PublishedPort is a port of rank 0 that is open, or should be, on the node where
// its job was submitted.
type PublishedPort struct {
	// Port is its number.
	Port int `json:"port"`
	// LAN says that it is open on the network, behind the key.
	LAN bool `json:"lan,omitempty"`
	// Addresses are where it is open; none where rank 0 is on this node, and has the port itself.
	Addresses []netip.AddrPort `json:"addresses,omitempty"`
	// Key is what a request on the network has to bear: Authorization: Bearer KEY.
	Key string `json:"key,omitempty"`
	// Problem says why it is not open.
	Problem *Cause `json:"problem,omitempty"`
}

// JobWatchResult is JobGetResult with the subscription that continues it.
type JobWatchResult struct {
	// Sub names the subscription.
	Sub Subscription `json:"sub"`
	JobGetResult
}

// JobChanged is what changed of a job.
type JobChanged struct {
	// Sub names the subscription.
	Sub Subscription `json:"sub"`
	// N numbers the notifications of the subscription, from 1.
	N uint64 `json:"n"`
	// Put are the changed documents: the job and its ranks.
	Put []Document `json:"put,omitempty"`
	// Terminal says that the job has ended and nothing follows; also sent for a job that had ended before.
	Terminal bool `json:"terminal,omitempty"`
	// ExitCode is the job's own; in the terminal one only.
	ExitCode *int `json:"exit_code,omitempty"`
}

// JobLogsParams says which output.
type JobLogsParams struct {
	// Job is the job.
	Job JobID `json:"job"`
	// Attempt is the attempt; 0 = the current one.
	Attempt int `json:"attempt,omitempty"`
	// Ranks are the ranks; empty = all.
	Ranks []int `json:"ranks,omitempty"`
	// Follow goes on with what is printed later, over all attempts.
	Follow bool `json:"follow,omitempty"`
	// Prepare gives what the command that prepares each rank's node printed, all of it as standard error, in place of
	// what the program prints. A node from before this field gives what the program prints.
	Prepare bool `json:"prepare,omitempty"`
	// TailBytes begins that far before the end of each stream; 0 = at the beginning.
	TailBytes int64 `json:"tail_bytes,omitempty"`
}

// JobLogsResult is the subscription by which the output comes.
type JobLogsResult struct {
	// Sub names the subscription.
	Sub Subscription `json:"sub"`
}

// JobOutput is a piece of what a rank printed.
type JobOutput struct {
	// Sub names the subscription.
	Sub Subscription `json:"sub"`
	// N numbers the notifications of the subscription, from 1.
	N uint64 `json:"n"`
	OutputPiece
	// Terminal says that nothing follows: all streams have ended, or a notice says of which rank the rest cannot be had.
	Terminal bool `json:"terminal,omitempty"`
}

// OutputPiece is a piece of one stream of one rank.
type OutputPiece struct {
	// Attempt is the attempt.
	Attempt int `json:"attempt"`
	// Rank is the rank.
	Rank int `json:"rank"`
	// Stream is where it was printed.
	Stream OutputStream `json:"stream,omitempty"`
	// OffsetBytes is where the piece begins in the stream.
	OffsetBytes int64 `json:"offset_bytes"`
	// SkippedBytes is what was dropped just before the piece.
	SkippedBytes int64 `json:"skipped_bytes,omitempty"`
	// Data is the piece, base64.
	Data []byte `json:"data,omitempty"`
	// Notice says, in place of a piece, why the rank's output waits, ends early, or is not whole.
	Notice *Cause `json:"notice,omitempty"`
	// Complete says, in place of a piece, that all of the rank's output has come that there is. Of a rank that was
	// given a notice since, it has not.
	Complete bool `json:"complete,omitempty"`
}

// InputAfterAll is the offset of a piece of input that follows all that was given
// before.
const InputAfterAll = -1

// JobInputParams is input for a job.
type JobInputParams struct {
	// Job is the job.
	Job JobID `json:"job"`
	// Giver tells clients apart, by a word of their own choice; empty is the one that submitted the job.
	Giver string `json:"giver,omitempty"`
	// OffsetBytes is where the piece begins in all input so far, so that a repeated piece counts once. -1 is after
	// all input, whoever gave it, and makes the client the one that gives: from then on pieces of others are refused
	// with input_elsewhere, until one of them does the same.
	OffsetBytes int64 `json:"offset_bytes"`
	// Data is the piece, base64.
	Data []byte `json:"data,omitempty"`
	// End says that there is no more.
	End bool `json:"end,omitempty"`
}

// JobInputResult says how much input a job was given.
type JobInputResult struct {
	// OffsetBytes is where all input so far ends, and the next piece of the client begins.
	OffsetBytes int64 `json:"offset_bytes"`
}

// JobResizeParams is the size of a terminal.
type JobResizeParams struct {
	// Job is the job.
	Job JobID `json:"job"`
	// Rows counts the lines.
	Rows int `json:"rows"`
	// Columns counts the characters of a line.
	Columns int `json:"columns"`
}
