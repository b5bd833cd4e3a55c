// Package probe measures one path over sockets between two nodes, at both ends:
// how many bits a second go each way, how long small messages take there and
// back, and how many of them are lost. It owns no document and decides nothing
// about when to measure.
//
// The measuring node asks the other one for leave by a call. That one listens
// for this measurement only, on the interface that has the address, and gives
// a token for it. Every connection then proves both nodes' identities by a
// signature that holds for one token, one address and one connection; after
// that it is plain TCP. The receiver counts and times, on a clock that nobody
// sets; what a peer says about itself is compared with what its measurer saw.
// The measured node counts what each peer costs it, and refuses what is too
// much. Every wait has an end.
package probe
