package cluster

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"fulmen/daemon/api"
)

const (
	// EntryContext begins what the signature of an entry covers.
	EntryContext = "fulmen-roster-1"
	// NonceSize is the length of a first entry's nonce, in bytes.
	NonceSize = 16
	// MaxEntryBytes is the largest entry that is read.
	MaxEntryBytes = 8 << 10
)

// EntryType says what an entry of the roster does.
type EntryType string

const (
	// EntryFound begins a cluster with its signer as the only member.
	EntryFound EntryType = "found"
	// EntryAdd makes a node a member.
	EntryAdd EntryType = "add"
	// EntryRemove ends a membership for good: the key never counts again.
	EntryRemove EntryType = "remove"
)

// Entry is what one signed line of the roster says.
type Entry struct {
	// Type says what it does. Others come from newer versions; they are kept,
	// passed on and counted as past, and change nobody's membership here.
	Type EntryType `json:"type"`
	// After are the hashes of the entries that the signer had seen and that no
	// other entry was after yet, in ascending order; empty in the first entry
	// only. There are several after two halves of a cluster met again.
	After []EntryHash `json:"after"`
	// By is the signer.
	By api.NodeID `json:"by"`
	// At is when, by the signer's wall clock; for people only.
	At api.Time `json:"at"`
	// Node is who is added or removed; in the first entry the signer.
	Node api.NodeID `json:"node"`
	// PublicKey is the Ed25519 key of whoever is added; absent in a removal.
	PublicKey []byte `json:"public_key,omitempty"`
	// Nonce is random, in the first entry only: a node that begins anew begins
	// another cluster.
	Nonce []byte `json:"nonce,omitempty"`
}

// EntryHash names an entry: SHA-256 over its bytes, 64 lower-case hexadecimal
// characters.
type EntryHash string

// HashEntry is the name of the entry with these bytes.
func HashEntry(raw []byte) EntryHash {
	sum := sha256.Sum256(raw)
	return EntryHash(hex.EncodeToString(sum[:]))
}

// HashTexts are hashes as they are sent, and HashesOf what was sent as hashes.
func HashTexts(hashes []EntryHash) []string { return converted[string](hashes) }

// HashesOf is the inverse of HashTexts. What is no hash names no entry.
func HashesOf(texts []string) []EntryHash { return converted[EntryHash](texts) }

func converted[To, From ~string](all []From) []To {
	to := make([]To, len(all))
	for i, one := range all {
		to[i] = To(one)
	}
	return to
}

func (h EntryHash) isValid() bool {
	raw, err := hex.DecodeString(string(h))
	return err == nil && len(raw) == sha256.Size && hex.EncodeToString(raw) == string(h)
}

// SignedEntry is an entry as it is stored and sent: the bytes that were signed
// are never encoded again.
type SignedEntry struct {
	// Raw is the JSON of an Entry, in the stable form of documents.
	Raw json.RawMessage `json:"entry"`
	// Sig is the signer's Ed25519 signature over EntryContext and Raw. What came
	// before, and with it the cluster, is covered by the hashes in After.
	Sig []byte `json:"sig"`
}

// SignEntry encodes and signs an entry with the key of its signer.
func SignEntry(e Entry, by Identity) (SignedEntry, error) {
	if e.By != by.Node {
		return SignedEntry{}, api.NewError(api.ReasonNotTheWriter, e.By.Display())
	}
	raw, err := json.Marshal(e)
	if err != nil {
		return SignedEntry{}, err
	}
	s := SignedEntry{Raw: raw, Sig: ed25519.Sign(by.key, entrySigningBytes(raw))}
	if _, err := s.Entry(); err != nil {
		return SignedEntry{}, err
	}
	return s, nil
}

func entrySigningBytes(raw []byte) []byte { return append([]byte(EntryContext), raw...) }

// Hash is the entry's name.
func (s SignedEntry) Hash() EntryHash { return HashEntry(s.Raw) }

// Verify refuses an entry that the key's holder did not sign as its signer.
func (s SignedEntry) Verify(key ed25519.PublicKey) error {
	e, err := s.Entry()
	if err != nil {
		return err
	}
	if len(key) != ed25519.PublicKeySize || api.NodeIDFromKey(key) != e.By || !ed25519.Verify(key, entrySigningBytes(s.Raw), s.Sig) {
		return api.NewError(api.ReasonBadSignature, e.By.Display())
	}
	return nil
}

// Entry reads the entry and checks its form, not its signature nor whether its
// signer may. Fields that this version does not know are skipped; they are
// covered by hash and signature.
func (s SignedEntry) Entry() (Entry, error) {
	var e Entry
	switch {
	case len(s.Raw) > MaxEntryBytes:
		return Entry{}, malformedEntry("is too long")
	case api.CheckStable(s.Raw) != nil || len(s.Raw) == 0 || s.Raw[0] != '{':
		return Entry{}, malformedEntry("is not a JSON object in the stable form")
	}
	if err := json.Unmarshal(s.Raw, &e); err != nil {
		return Entry{}, malformedEntry("has a field that this version cannot read")
	}
	return e, e.check()
}

func (e *Entry) check() error {
	isFirst := len(e.After) == 0
	switch {
	case e.Type == "":
		return malformedEntry("has no type")
	case !e.By.Valid() || !e.Node.Valid():
		return malformedEntry("names no nodes")
	case e.At.IsZero():
		return malformedEntry("has no time")
	case isFirst != (e.Type == EntryFound):
		return malformedEntry("names no earlier entry, or is the first and names one")
	case !slices.IsSorted(e.After) || len(slices.Compact(slices.Clone(e.After))) != len(e.After):
		return malformedEntry("names earlier entries out of order, or one of them twice")
	case slices.ContainsFunc(e.After, func(h EntryHash) bool { return !h.isValid() }):
		return malformedEntry("names an earlier entry by something that is not a hash")
	}
	hasKey := len(e.PublicKey) == ed25519.PublicKeySize && api.NodeIDFromKey(e.PublicKey) == e.Node
	switch e.Type {
	case EntryFound:
		if !hasKey || e.Node != e.By || len(e.Nonce) != NonceSize || bytes.Equal(e.Nonce, make([]byte, NonceSize)) {
			return malformedEntry("begins a cluster without its signer's own key or without a nonce")
		}
	case EntryAdd:
		if !hasKey || len(e.Nonce) != 0 {
			return malformedEntry("adds a node without that node's key")
		}
	case EntryRemove:
		if len(e.PublicKey) != 0 || len(e.Nonce) != 0 {
			return malformedEntry("removes a node, and has a key all the same")
		}
	}
	return nil
}

func malformedEntry(what string) error {
	return api.Errorf(api.ReasonMalformedDocument, "roster", "An entry of the roster %s.", what)
}
