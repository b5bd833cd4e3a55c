// Package rdmaprobe tests a cable over RDMA: one MLX worker at each end, joined
// by JACCL over that cable and no other, that send to and receive from each other.
// It gives rates each way by size of message, the round trip of small messages
// and their jitter; and that they come is the proof that the cable works.
//
// The node with the lower id measures: it is rank 0, and its caller holds what the
// test needs there. The other node is asked to hold its own end, to run rank 1,
// and to give back, by peer.probe. Nothing is opened at either end before both
// hold, since each run may leave something behind in the driver: a test is never
// repeated by itself, the workers leave their group in order wherever they can,
// and each test that opened a device is counted.
//
// The workers find each other by the side channels that jobs have too. Every wait
// has an end; a rank that hangs is ended from here, and so is its partner.
//
// It owns no documents.
package rdmaprobe
