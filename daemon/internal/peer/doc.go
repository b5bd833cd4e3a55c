// Package peer lets the parts of a daemon call every node of the cluster alike,
// this node among them: what a part asks of its own node goes through the same
// handlers as what it asks of another, encoded and decoded on the way, so that
// there is one way to be right.
//
// It also has what goes over the connections that carry what a rank prints and what
// it reads. Both begin with an [fulmen/daemon/api.PeerConn] that names the rank and
// who wants it. Then messages follow, each a byte for its kind, a length of four
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
package peer
