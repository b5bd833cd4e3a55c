// Package attach joins a client of this node to the ranks of a job, wherever
// they run: it merges what they print into one stream, gives them what the
// client types, and gives their terminal its size.
//
// It owns the input that the ranks do not have yet, and each client's place in the
// output. It reads from the job's documents, which every node holds, where the ranks
// are, and publishes nothing; the bytes come and go over a connection for each rank, in
// the messages of package peer.
//
// # Output
//
// Each rank's two streams come in their order, with nothing said twice; between
// ranks there is no order. Who follows a job is given all its attempts from the
// one on that he asked for, a piece for each rank of which everything has come, and
// one terminal piece when that is said of all. A node that does not answer is asked
// again as long as the job lives and for a minute after its end, unless the job is
// deleted; a piece without data says so, and another one if in the end the rest
// could not be had.
//
// # Input
//
// One client at a time gives it: the one that began, until another one asks for
// the place after all input, here or at another node. The ranks say how far they
// are, so that the other one goes on just there.
//
// What is given counts by its place in all input, so that a piece that is given
// twice counts once. It is kept until the ranks have it, also before there are
// any: at most MaxKept bytes, then whoever gives more waits. As long as a job was
// given no more than that, a later attempt is given all of it again, from the
// beginning. After that what all ranks of an attempt have taken is let go, and a
// later attempt is given nothing, not even an end: a program must not take a part
// of its input for the whole. Then giving fails with input_lost, and Config.Lost
// is told.
package attach
