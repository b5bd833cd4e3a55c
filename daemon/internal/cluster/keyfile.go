package cluster

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"

	"fulmen/daemon/api"
)

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
