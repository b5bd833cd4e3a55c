// Package relay makes published ports of rank 0 reachable elsewhere (--publish).
//
// On the node where the job was submitted it listens on the loopback, or on the
// addresses of its networks with a bearer key in front, and carries each
// connection to rank 0's node. There it connects to the same port of the
// loopback, if that is published by a rank that lives there; the other node
// chooses a port of that list and no address. Both directions end by themselves:
// what one side has said to the end, the other hears to the end.
//
// On rank 0's node it also finds out when the program listens, so that the rank's
// document can say so.
//
// It owns no documents. Keys of jobs are in memory only, or derived anew.
package relay
