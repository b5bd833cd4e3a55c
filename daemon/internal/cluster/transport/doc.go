// Package transport carries bytes between members of a cluster, over every
// network they share.
//
// A path is a pair of interfaces, one of each node, over which the other one
// proved its identity; at most three of them are active. Each has one long-lived
// connection for packets, and a packet goes out on all of them: a cable that is
// pulled loses nothing that another one carries. Calls go over one connection
// per caller, streams over one each, on the best path, or on the next where that
// one does not answer at once.
//
// All of it is TLS 1.3 with both keys pinned: who is not in the roster has no
// connection. A dialling member names itself by an id that only members
// recognise, and until it has, the other side shows nothing, its certificate
// included. A dead path is noticed by the kernel, so that an idle cluster wakes
// nobody.
package transport
