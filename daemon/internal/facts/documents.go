package facts

import "fulmen/daemon/api"

// Documents is where facts are published: the ledger's writer of this node.
type Documents interface {
	// Put publishes a document of this node. unknown tells, by field, why
	// fields of the value are absent.
	Put(kind api.Kind, name string, value any, unknown map[string]api.Reason) error
}

// Static is what the platform cannot know of this node: what Fulmen itself
// adds to the identity document.
type Static struct {
	PublicKey     []byte
	FulmenVersion string
	Protocol      int
	StartedAt     api.Time
	// ShortName makes the short name of a computer name.
	ShortName func(name string) string
}
