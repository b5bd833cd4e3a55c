// Package grant lends what this node has: its GPU, its GPU's working set, and
// its RDMA devices. It is the one arbiter of the node, for ranks and for
// measurements alike, and the only writer of the node's grant documents.
//
// A job's grants are fenced by the epoch of its home: once a higher one was
// heard, a lower one is refused. Every grant has a lease and ends with it,
// unless a process occupies it; then it ends with the process. Who cannot have
// what it asks for stands in line, in the order of coming, with a deadline and
// the reason why it waits; measurements stand behind all ranks, and have the
// node to themselves.
//
// Nothing is kept over a restart. Ranks that run on are restored by who
// supervises them, before anybody else is served; whatever else was lent is
// asked for again or was not needed.
package grant
