package cluster

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

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

// Use keeps ids that rotate daily apart by what they are for.
type Use string

// The uses.
const (
	// UseAnnounce is the id in the announcement of discovery.
	UseAnnounce Use = "announce"
	// UseDial is what a dialling member shows before the other side shows
	// anything: its name in the TLS greeting.
	UseDial Use = "dial"
)

// DailyID is an id of a node that changes at midnight UTC, 32 hexadecimal
// characters. Only who knows the cluster's id, a member, can tell whose it is.
func DailyID(cluster api.ClusterID, node api.NodeID, use Use, day time.Time) string {
	mac := hmac.New(sha256.New, []byte("fulmen-daily-1"+string(cluster)))
	mac.Write([]byte(string(use) + "|" + string(node) + "|" + day.UTC().Format(time.DateOnly)))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// IsDailyID reports whether an id is the node's of today, yesterday or tomorrow:
// clocks differ, and midnight comes.
func IsDailyID(id string, cluster api.ClusterID, node api.NodeID, use Use, now time.Time) bool {
	found := false
	for days := -1; days <= 1; days++ {
		want := DailyID(cluster, node, use, now.AddDate(0, 0, days))
		found = hmac.Equal([]byte(id), []byte(want)) || found
	}
	return found
}

const (
	// keyFormat is the form of the key file; another one is another version's.
	keyFormat = "fulmen-identity-1"
	// maxKeyFile bounds what is read, in bytes.
	maxKeyFile = 4096
)

// keyFile is the content of the key file.
type keyFile struct {
	// Format is keyFormat.
	Format string `json:"format"`
	// Node is the id that the key makes, for people, and to find damage.
	Node api.NodeID `json:"node"`
	// Seed is the 32 bytes from which the key is made (RFC 8032).
	Seed []byte `json:"seed"`
	// HardwareID names the machine; absent where it could not be read.
	HardwareID string `json:"hardware_id,omitempty"`
	// CreatedAt is when the key was made.
	CreatedAt api.Time `json:"created_at"`
}

// decodeKeyFile reads what encode wrote, and nothing else: a file that differs
// in anything was changed by somebody or something.
func decodeKeyFile(raw []byte) (keyFile, error) {
	var f keyFile
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		// The text of a decoder's error may quote the secret.
		return keyFile{}, errors.New("it is not the JSON of a key")
	}
	switch {
	case f.Format != keyFormat:
		return keyFile{}, errors.New("its format is not " + keyFormat)
	case len(f.Seed) != ed25519.SeedSize:
		return keyFile{}, errors.New("its seed has the wrong length")
	case f.identity().Node != f.Node:
		return keyFile{}, errors.New("its seed does not make the node id that it names")
	case f.CreatedAt.IsZero():
		return keyFile{}, errors.New("it does not say when it was made")
	}
	if again, err := f.encode(); err != nil || !bytes.Equal(again, raw) {
		return keyFile{}, errors.New("it was not written by Fulmen")
	}
	return f, nil
}

func (f keyFile) encode() ([]byte, error) {
	raw, err := json.MarshalIndent(f, "", "  ")
	return append(raw, '\n'), err
}

func (f keyFile) identity() Identity { return NewIdentity(ed25519.NewKeyFromSeed(f.Seed)) }
