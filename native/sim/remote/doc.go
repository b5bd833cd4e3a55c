// Package remote is one simulated world shared by several processes: [Serve]
// hosts a [sim.World] at a Unix socket, and [Dial] gives other processes its
// Macs as platforms, so that real daemons on one machine are a cluster.
//
// A connection belongs to one Mac, or to none for who only changes the world. It
// carries messages of JSON, each after its length in four bytes. The caller
// numbers its requests; what a request began (a watch, an announcement, an open
// port) is known by the same number, and ends when the caller says so or with the
// connection: a process that dies leaves nothing behind. Both sides refuse what
// they do not know. There is no protection but the socket's own.
//
// Connections between Macs run from process to process over loopback, see
// package loopback; only the news of their paths comes from the world.
package remote
