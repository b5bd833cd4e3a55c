// Package sidechannel carries JACCL's side channels between the nodes of a job.
//
// Before RDMA can begin the ranks of a group exchange what they need over TCP:
// rank 0 listens, the others connect to it, and all of them gather a few hundred
// bytes several times. JACCL as it is has no time limits there, takes any
// connection for a rank, gives up on a rank 0 that comes more than 15 s late, and
// needs an address of rank 0 that all others can reach. Here every rank is given
// an address of its own node's loopback instead. On the nodes of ranks from 1 on
// this package listens there; rank 0's program listens itself at the one that it
// was given. The daemons carry the bytes.
//
// # What reaches rank 0
//
// Of a rank one connection, from a process of that rank's group, whose first four
// bytes are that rank's number. A caller who comes before rank 0 listens is held,
// and if it dies meanwhile it is dropped; only then does one that takes its place
// get through. That rank 0 listens is read from the kernel, since a connection
// that only tries would count as a rank. No node names an address or a port to
// another: a stream says which rank of which job it is of, and the node of rank 0
// checks that it comes from the node which the plan gives that rank.
//
// Whatever else connects to rank 0 takes the place of a rank there, and only rank 0
// could send it away: that ends the start, with the name of the program that did.
//
// # Who is waited for
//
// Until all have joined it is told on whom the others wait: those that have not
// connected, else those that owe the next bytes of an all-gather, else rank 0.
//
// # How long
//
// A channel carries [api.MaxSideChannelBytes] at most and nothing after the time
// for starting and for the handshake. Then it is silent, and open for as long as
// both programs keep it so: JACCL may one day take its end for that of the rank.
//
// A channel that breaks between the nodes before its rank has joined ends that
// rank, which could only fail or hang. One that breaks later is kept open at both
// programs.
//
// How far each rank has come is told as [api.Handshake]. It owns no documents.
package sidechannel
