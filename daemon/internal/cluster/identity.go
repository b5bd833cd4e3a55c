package cluster

import (
	"crypto/ed25519"

	"fulmen/daemon/api"
)

// Identity is the node's key. It is a secret: it is written to its file and
// nowhere else, and printing it shows the node id.
type Identity struct {
	key ed25519.PrivateKey
	// Node is the id that the key makes.
	Node api.NodeID
}

// NewIdentity wraps a private key of ed25519.PrivateKeySize bytes.
func NewIdentity(key ed25519.PrivateKey) Identity {
	return Identity{key: key, Node: api.NodeIDFromKey(key.Public().(ed25519.PublicKey))}
}

// Key is the private key.
func (i Identity) Key() ed25519.PrivateKey { return i.key }

// Public is the public key.
func (i Identity) Public() ed25519.PublicKey { return i.key.Public().(ed25519.PublicKey) }

// String is the node id, so that no log line has the key.
func (i Identity) String() string { return i.Node.String() }

// GoString is String, for %#v.
func (i Identity) GoString() string { return "cluster.Identity(" + i.Node.String() + ")" }
