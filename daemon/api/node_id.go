package api

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"strings"
)

// NodeIDLength is the number of characters of a node id on the wire.
const NodeIDLength = 16

// NodeID names a node for as long as its key lives: 15 Crockford base 32
// characters, the first 75 bits of SHA-256 over the Ed25519 public key, and a
// check character. On the wire it is 16 lower-case characters without dashes;
// Display shows it to people. The zero value is no node.
//
// The check character makes the 16 characters a code word over GF(32), the
// field of x^5+x^2+1 with the generator a=2: starting from 1, every character
// is added (exclusive or) and the sum multiplied by a; the result after 15
// characters is the check. Each place so has its own weight a^15 ... a^0, all
// different and none zero, which is why every wrong character and every swap
// of two characters, neighbours or not, is found. Starting from 1 keeps a row
// of zeros from being an id.
type NodeID string

// NodeIDFromKey derives the id of the node that holds the key.
func NodeIDFromKey(key ed25519.PublicKey) NodeID {
	sum := sha256.Sum256(key)
	body := encodeCrockford(sum[:], NodeIDLength-1)
	return NodeID(body + string(crockford[nodeIDCheck(body)]))
}

// ParseNodeID reads an id as people write it: dashes and spaces anywhere,
// either case, o for 0, i and l for 1.
func ParseNodeID(s string) (NodeID, error) {
	const field = "node id"
	folded := FoldCrockford(s)
	switch {
	case !isCrockford(folded):
		return "", malformed(field, s, "holds a character that no id has",
			"use digits and the letters a to z without i, l, o and u")
	case len(folded) != NodeIDLength:
		return "", malformed(field, s, fmt.Sprintf("has %d characters instead of %d", len(folded), NodeIDLength),
			"copy the whole id, four groups of four, as `fulmen nodes` shows it")
	case !nodeIDChecks(folded):
		return "", malformed(field, s, "the check character does not fit: something was mistyped or swapped",
			"compare it group by group with the other screen")
	}
	return NodeID(folded), nil
}

// Valid reports whether the id is canonical and its check character fits.
func (n NodeID) Valid() bool {
	return len(n) == NodeIDLength && isCrockford(string(n)) && nodeIDChecks(string(n))
}

// String is the wire form, without dashes.
func (n NodeID) String() string { return string(n) }

// Display is the form for people: four groups of four, joined by dashes. An
// invalid id is shown as it is.
func (n NodeID) Display() string {
	if len(n) != NodeIDLength {
		return string(n)
	}
	s := string(n)
	return strings.Join([]string{s[0:4], s[4:8], s[8:12], s[12:16]}, "-")
}

// MarshalText writes the wire form and refuses an invalid id.
func (n NodeID) MarshalText() ([]byte, error) {
	if !n.Valid() {
		return nil, malformed("node id", string(n), "is not valid", "set it from NodeIDFromKey or ParseNodeID")
	}
	return []byte(n), nil
}

// UnmarshalText reads the wire form only.
func (n *NodeID) UnmarshalText(text []byte) error {
	return unmarshalCanonical(n, text, "node id", ParseNodeID)
}

func nodeIDCheck(body string) int {
	s := 1
	for i := range len(body) {
		s = timesTwo(s ^ crockfordValue(body[i]))
	}
	return s
}

func nodeIDChecks(id string) bool {
	return nodeIDCheck(id[:NodeIDLength-1]) == crockfordValue(id[NodeIDLength-1])
}

// timesTwo multiplies by the generator of GF(32) modulo x^5+x^2+1.
func timesTwo(v int) int {
	v <<= 1
	if v&32 != 0 {
		v ^= 0b100101
	}
	return v
}
