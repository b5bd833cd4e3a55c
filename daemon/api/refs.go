package api

// NodeRef is a node as people name it in a call: its id, its short name, or
// any unique beginning of either. Empty is the node that is called.
type NodeRef string

// LinkRef is a cable as people name it in a call: its id, or one end of it
// with a NodeRef, such as mac-studio:1.
type LinkRef string

// Subscription names a stream of notifications on one connection; it dies with
// the connection.
type Subscription string
