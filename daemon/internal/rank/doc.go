// Package rank owns the node's rank documents and the folders of its ranks: it starts
// ranks as the right account, holds them through their shims, ends them, and says how
// they are. It reads the calls of jobs' homes and what shims and the system's supervisor
// say, and publishes the documents.
//
// A job's home asks by the peer methods start, spawn, renew, end and listen. Before
// anything is started the node checks for itself who asks for what: the job's
// epoch, the spec's signature by the node that vouches for the principal, the
// plan, the grant, and as which of its own accounts that principal may run.
//
// # Who holds a rank
//
// The system's supervisor runs a shim in place of the program (package shim). It
// outlives the daemon, so that a rank does. In the folder of a rank are the
// shim's spec.json and exit.json, and beside it is this package's own record,
// which is written before the supervisor is asked for anything and after the end
// is known: what a restarted daemon finds there and with the supervisor tells
// what became of every rank, wherever the one before was killed.
//
// # What is never done
//
// A rank that was ended before it was started is never started later, not by a
// request that was on its way, nor by a restarted daemon: the order to end is in
// fence.json, in the job's folder, before it is acknowledged. A rank counts as
// ended only when nothing of it is left; one whose shim vanished is first
// removed, and then lost.
package rank
