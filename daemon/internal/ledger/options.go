package ledger

import (
	"crypto/ed25519"
	"time"

	"fulmen/daemon/api"
)

// DefaultQueue is how many keys a watcher may be behind by before it lags:
// several times what a cluster of 32 nodes with their ports, jobs and ranks holds.
const DefaultQueue = 8192

// Options is what a ledger needs.
type Options struct {
	// Key is the node's own; with it go the node's id and the right to write.
	Key ed25519.PrivateKey
	// Cluster is what documents are signed for.
	Cluster api.ClusterID
	// Counter keeps the versions. Required.
	Counter Counter
	// Store keeps documents of persisted kinds; nil = they end with the process.
	Store Store
	// TakesBack says of a document of this node's own that it does not hold, and that
	// another node has brought, whether it was lost with a Store of before and still
	// counts: then it is written again as it was. nil = none is; they are ghosts.
	TakesBack func(api.Document) bool
	// Members decides whose documents are taken; nil = nobody's but the node's own.
	Members Members
	// Now is the wall clock; nil = time.Now. It dates documents and ages
	// deletions, which are dates over weeks; no lease or deadline hangs on it.
	Now func() time.Time
	// OnOver hears that OverQuota has one more; nil = nobody does. It must return at
	// once, and not call the ledger.
	OnOver func()
	// Queue is how many keys a watcher may be behind by; 0 = DefaultQueue.
	Queue int
}
