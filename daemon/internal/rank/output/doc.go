// Package output serves what the ranks of this node print to whoever may see it.
//
// A rank's shim keeps its streams in capped files, and never waits for a reader.
// This package reads those files, whoever asks and however often, and sends them
// over a connection for each reader, in the messages of package peer: so a
// reader that is slow, or stalls for ever, holds up nothing but his own
// connection, and finds a hole where the cap has taken what he did not fetch in
// time. What is not kept is said as skipped bytes, so that offsets stay true.
//
// A reader that follows is woken by the file system's own events. He is told the
// end when the rank has ended and everything was sent. A connection takes one
// buffer of memory.
package output
