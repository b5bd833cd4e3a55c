package api

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// ClusterIDLength is the number of characters of a cluster id.
const ClusterIDLength = 32

// ClusterID names a cluster: the first 16 bytes of SHA-256 over the first
// entry of its roster, as 32 lower-case hexadecimal characters. A Mac alone is
// a cluster of one. The zero value is no cluster.
type ClusterID string

// ClusterIDFromEntry derives the id from the exact bytes of the roster's first entry.
func ClusterIDFromEntry(first []byte) ClusterID {
	sum := sha256.Sum256(first)
	return ClusterID(hex.EncodeToString(sum[:ClusterIDLength/2]))
}

// ParseClusterID reads a cluster id in either case.
func ParseClusterID(s string) (ClusterID, error) {
	c := ClusterID(strings.ToLower(s))
	if !c.Valid() {
		return "", malformed("cluster id", s, "is not 32 hexadecimal characters", "copy it from `fulmen peers --json`")
	}
	return c, nil
}

// Valid reports whether the id is canonical.
func (c ClusterID) Valid() bool { return isHex(string(c), ClusterIDLength) }

// String is the wire form.
func (c ClusterID) String() string { return string(c) }

// MarshalText writes the wire form and refuses an invalid id.
func (c ClusterID) MarshalText() ([]byte, error) {
	if !c.Valid() {
		return nil, malformed("cluster id", string(c), "is not valid", "set it from ClusterIDFromEntry or ParseClusterID")
	}
	return []byte(c), nil
}

// UnmarshalText reads the wire form only.
func (c *ClusterID) UnmarshalText(text []byte) error {
	return unmarshalCanonical(c, text, "cluster id", ParseClusterID)
}

// isHex reports whether s is n lower-case hexadecimal characters.
func isHex(s string, n int) bool {
	if len(s) != n {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
