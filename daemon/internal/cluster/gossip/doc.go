// Package gossip finds out which members are alive. hashicorp/memberlist does
// the work, over the transport's authenticated paths instead of sockets of its
// own: its encryption is unused, because who is not in the roster has no path.
//
// What it says is a hint about liveness and nothing more. Documents are
// replicated apart from it, and nodes of one job beat each other directly.
//
// Each node advertises a fixed address made of its id, so that no change of a
// real address looks like another node. memberlist alone stays split after a
// long cut; so whenever a path to somebody it does not count as a member comes
// up, that one is joined.
package gossip
