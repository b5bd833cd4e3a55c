// Package input gives the ranks of this node what they read, and their terminals
// their size.
//
// A rank's input comes over one connection from the node of whoever types it, in
// the messages of package peer, and goes on to the rank's shim. Every byte has
// its place in the rank's input, and the shim alone counts how far the program
// was given it. So nothing is lost or doubled when either daemon, or the way
// between them, goes and comes back: the first thing that is said over a new
// connection is where to go on, and what was sent before that is passed over.
// This holds as long as the shim lives and the sender keeps what he was not told
// was taken.
//
// Nothing is kept here but one piece: a program that does not read holds up the
// connection, and with it whoever types. A new connection takes the place of an
// older one of the same rank, which is told so.
package input
