package probe

import "time"

const (
	// leaveWithin bounds the other node's answer to the announcement.
	leaveWithin = 10 * time.Second
	// placeWithin is how long another measurement may take to end before one is refused.
	placeWithin = time.Second
	// comeWithin is how long a measured node waits for the measuring one's first
	// connection, which follows the announcement's answer.
	comeWithin = 5 * time.Second
	// proveWithin bounds the proof of both identities on a connection, and the
	// dialling before it.
	proveWithin = 3 * time.Second
	// stalledAfter is how long nothing at all may arrive or leave. The kernel
	// sends a lost packet again after 0.2, 0.4 and 0.8 s.
	stalledAfter = 3 * time.Second
	// leftAfter is the same at the measured node, which lets the other one notice first.
	leftAfter = 2 * stalledAfter
	// fullWithin and briefWithin bound a whole measurement, which take about 5 s
	// and well under 1 s.
	fullWithin  = 20 * time.Second
	briefWithin = 10 * time.Second
	// visitWithin is the longest that a measured node puts up with.
	visitWithin = 30 * time.Second

	// maxStreams is how many connections are used at once; more have not been
	// seen to give more.
	maxStreams = 8
	// maxStrangers is how many connections may be about to prove who they are.
	maxStrangers = 32

	// chunk is how much is written and read at once. Above 256 KiB a transfer
	// over loopback gets no faster; under 64 KiB it costs wake-ups.
	chunk = 256 << 10

	// fullBytes and briefBytes are the most that is sent, both ways together:
	// far above what 1 s over the fastest cable takes, and what a refresh may
	// take with its warm-up.
	fullBytes  = 256 << 30
	briefBytes = 1 << 30
)
