// Package job owns the job documents that this node writes, as the home of jobs,
// and carries out what package phase decides. It takes jobs from this node's
// people and from other nodes, drives those whose home this node is, and follows
// all others, so that it can take one over whose home is gone.
//
// Every job that has not ended has an actor: a queue of what happened, worked off
// one by one by a goroutine that lives only as long as there is something in it.
// An actor asks the phase machine, then carries the effects out in their order.
// The document is durable before anything that rests on it is begun; calls to
// other nodes are made aside, each with a deadline, and their answers come back
// into the queue. Calls about one grant are made one after the other, and an order
// to end ranks does not overtake the order to start them.
//
// What a job is, is read from the ledger: the documents that homes wrote of it, of
// which the highest epoch counts, and those that nodes wrote of its ranks. The
// values of environment variables are in no document: they are kept in memory at
// the submitter's node and at each home, and are gone when these restart.
//
// Jobs that look for a place stand in line by what they want, and only the first of
// each looks.
//
// Locks are taken in this order: Jobs.beating, Jobs.mu, line.mu, actor.mu. Nothing waits
// under any of them, and no other package is called but readers of memory: the
// ledger, and what nodes are called.
package job
