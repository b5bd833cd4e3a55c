// Package peer lets the parts of a daemon call every node of the cluster alike,
// this node among them: what a part asks of its own node goes through the same
// handlers as what it asks of another, encoded and decoded on the way, so that
// there is one way to be right.
package peer
