package ledger

import "fulmen/daemon/api"

// Store keeps the documents of persisted kinds over a restart.
type Store interface {
	// Load gives everything that was saved and not forgotten, in any order.
	Load() ([]api.Document, error)
	// Save keeps documents, each instead of an earlier one with its key, and
	// forgets others, all in one step that is on disk when it returns, but for
	// documents that come again after a crash, which may be there soon after.
	Save(put []api.Document, forget []api.Key) error
}

// Counter keeps how far the node's versions may have been used.
type Counter interface {
	// LoadVersion gives what was saved last, the zero Version if nothing was.
	LoadVersion() (api.Version, error)
	// SaveVersion keeps v and is on disk when it returns: every version up to v
	// counts as used from then on.
	SaveVersion(v api.Version) error
}

// Members says whose signatures count. It is asked while arriving documents are
// held back, so it must answer from memory and not wait for a caller of the ledger.
type Members interface {
	// PublicKey is a member's Ed25519 key; false for whoever is none.
	PublicKey(node api.NodeID) ([]byte, bool)
}
