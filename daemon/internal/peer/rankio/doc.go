// Package rankio is what goes over the connections between nodes that carry what
// a rank prints and what it reads.
//
// Both begin with an [fulmen/daemon/api.PeerConn] that names the rank and who
// wants it. Then messages follow, each a byte for its kind, a length of four
// bytes, big-endian, and a body:
//
//	output, from the rank's node   Piece, then End; or Refused
//	input, to the rank's node      Given
//	input, from the rank's node    Taken, at once and whenever it has grown; or Refused
//	either way                     Beat, where nothing else was said for a while
//
// Numbers are of eight bytes, big-endian, and not negative. A kind that a reader
// does not know is passed over. Nothing is acknowledged on the way of output, and
// nothing is sent before it can be taken: who does not read holds up his own
// connection and nothing else.
package rankio
