package api

import "cmp"

// Key says which document: the latest version under a key replaces the others.
type Key struct {
	// Node is the only writer.
	Node NodeID `json:"node"`
	// Kind says what it is about.
	Kind Kind `json:"kind"`
	// Name tells the node's documents of one kind apart.
	Name string `json:"name"`
}

// Compare orders by node, kind and name.
func (k Key) Compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Node, o.Node), cmp.Compare(k.Kind, o.Kind), cmp.Compare(k.Name, o.Name))
}

// String is for logs.
func (k Key) String() string { return string(k.Node) + " " + string(k.Kind) + " " + k.Name }

// KeyVersion names one version of one document.
type KeyVersion struct {
	Key
	Version
}
