// Package liveness derives what one node knows about all: whether each member
// is reached, since when, by which paths or why not, what people call it, and
// the totals of those that are reached. It holds rules only: it does no I/O,
// takes no clock, keeps nothing, and gives the same bytes for the same input in
// any order.
//
// Two things are put together. Whether a node answers is what gossip and the
// paths of this node say. Why it does not is what the node said of itself before
// it went, in its node-state document. What was said counts before what is
// seen: a Mac that sleeps still answers for some seconds, and in a nap now and
// then.
package liveness
