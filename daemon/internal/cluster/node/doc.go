// Package node makes this node one of a cluster: it puts together discovery,
// the transport, gossip, replication and pairing, each of which knows nothing of
// the others.
//
// Addresses come from discovery and from the network documents of members, and
// go to the transport as candidates. Paths that come up are published as reach
// documents, and start replication and gossip with whoever they lead to. The
// roster says who may, and one holder keeps it.
//
// It owns the documents of kinds reach and pending.
package node
