// Package cluster owns who this node is and who belongs to its cluster: the
// node's key, tied to the machine that it was made on, and the roster, a
// hash-linked log of signed entries whose first one names the cluster. A Mac
// alone is a roster of one.
//
// It reads the hardware's identifier and the computer's name, and publishes the
// identity by which documents are signed and the members whose signatures count.
package cluster
