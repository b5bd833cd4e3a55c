package api

import (
	"cmp"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
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
	body := Base32().EncodeToString(sum[:])[:NodeIDLength-1]
	return NodeID(body + string(Crockford[nodeIDCheck(body)]))
}

// ParseNodeID reads an id as people write it: dashes and spaces anywhere,
// either case, o for 0, i and l for 1.
func ParseNodeID(s string) (NodeID, error) {
	const field = "node id"
	folded := FoldCrockford(s)
	switch {
	case strings.Trim(folded, Crockford) != "":
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
	return len(n) == NodeIDLength && strings.Trim(string(n), Crockford) == "" && nodeIDChecks(string(n))
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
	return marshalCanonical(n, "node id", "set it from NodeIDFromKey or ParseNodeID")
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
func (c ClusterID) Valid() bool {
	return len(c) == ClusterIDLength && strings.Trim(string(c), "0123456789abcdef") == ""
}

// String is the wire form.
func (c ClusterID) String() string { return string(c) }

// MarshalText writes the wire form and refuses an invalid id.
func (c ClusterID) MarshalText() ([]byte, error) {
	return marshalCanonical(c, "cluster id", "set it from ClusterIDFromEntry or ParseClusterID")
}

// UnmarshalText reads the wire form only.
func (c *ClusterID) UnmarshalText(text []byte) error {
	return unmarshalCanonical(c, text, "cluster id", ParseClusterID)
}

// shortIDLength is that of the common shape of the ids that are drawn at random: a letter
// that says what it is and 8 Crockford characters, 40 random bits.
const shortIDLength = 9

// JobID names a job: `j` and 8 Crockford characters. The zero value is no job.
type JobID string

// NewJobID draws a job id from the system's random source.
func NewJobID() JobID { return JobID(newShortID('j')) }

// ParseJobID reads a job id as people write it: either case, o for 0, i and l for 1.
func ParseJobID(s string) (JobID, error) {
	id, err := parseShortID("job id", 'j', s, "copy it from `fulmen jobs`, such as j4k2m9xq7")
	return JobID(id), err
}

// Valid reports whether the id is canonical.
func (j JobID) Valid() bool { return validShortID('j', string(j)) }

// String is the wire form.
func (j JobID) String() string { return string(j) }

// MarshalText writes the wire form and refuses an invalid id.
func (j JobID) MarshalText() ([]byte, error) {
	return marshalCanonical(j, "job id", "set it from NewJobID or ParseJobID")
}

// UnmarshalText reads the wire form only.
func (j *JobID) UnmarshalText(text []byte) error {
	return unmarshalCanonical(j, text, "job id", ParseJobID)
}

func newShortID(letter byte) string {
	var b [5]byte
	rand.Read(b[:]) // never fails: the runtime ends the process where the system has no randomness
	return string(letter) + Base32().EncodeToString(b[:])
}

func parseShortID(field string, letter byte, s, remedy string) (string, error) {
	if s == "" || s[0]|0x20 != letter {
		return "", malformed(field, s, "does not begin with "+string(letter), remedy)
	}
	id := string(letter) + FoldCrockford(s[1:])
	if !validShortID(letter, id) {
		return "", malformed(field, s, "is not "+string(letter)+" and 8 letters or digits", remedy)
	}
	return id, nil
}

func validShortID(letter byte, s string) bool {
	return len(s) == shortIDLength && s[0] == letter && strings.Trim(s[1:], Crockford) == ""
}

// MeasureID names one run of a measurement: `m` and 8 Crockford characters.
// The zero value is no measurement.
type MeasureID string

// NewMeasureID draws a measurement id from the system's random source.
func NewMeasureID() MeasureID { return MeasureID(newShortID('m')) }

// ParseMeasureID reads a measurement id as people write it: either case, o for 0, i and l for 1.
func ParseMeasureID(s string) (MeasureID, error) {
	id, err := parseShortID("measurement id", 'm', s, "copy it from the reply of measure.gpu, such as m4k2m9xq7")
	return MeasureID(id), err
}

// Valid reports whether the id is canonical.
func (m MeasureID) Valid() bool { return validShortID('m', string(m)) }

// String is the wire form.
func (m MeasureID) String() string { return string(m) }

// MarshalText writes the wire form and refuses an invalid id.
func (m MeasureID) MarshalText() ([]byte, error) {
	return marshalCanonical(m, "measurement id", "set it from NewMeasureID or ParseMeasureID")
}

// UnmarshalText reads the wire form only.
func (m *MeasureID) UnmarshalText(text []byte) error {
	return unmarshalCanonical(m, text, "measurement id", ParseMeasureID)
}

// LinkID names a cable by where its two ends are plugged, `ID:1~ID:3`, the
// lower end first. A cable may join two receptacles of the same Mac. The zero
// value is no cable.
type LinkID struct {
	Low  LinkEnd
	High LinkEnd
}

// NewLinkID puts two ends in order. It refuses invalid ends and a cable that
// would have both ends in one receptacle.
func NewLinkID(a, b LinkEnd) (LinkID, error) {
	if a.Compare(b) > 0 {
		a, b = b, a
	}
	l := LinkID{Low: a, High: b}
	if !l.Valid() {
		return LinkID{}, malformed("link", l.String(), "needs two different ports", "name both ends as NODE:PORT")
	}
	return l, nil
}

// ParseLinkID reads a cable's name with its ends in either order; node ids as people write them.
func ParseLinkID(s string) (LinkID, error) {
	first, second, ok := strings.Cut(s, "~")
	if !ok {
		return LinkID{}, malformed("link", s, "has no ~ between two ends", "write it as NODE:1~NODE:3")
	}
	a, err := ParseLinkEnd(first)
	if err != nil {
		return LinkID{}, err
	}
	b, err := ParseLinkEnd(second)
	if err != nil {
		return LinkID{}, err
	}
	return NewLinkID(a, b)
}

// Valid reports whether both ends are valid, different, and in order.
func (l LinkID) Valid() bool {
	return l.Low.Valid() && l.High.Valid() && l.Low.Compare(l.High) < 0
}

// End returns the end at a node, the lower one where both are, and false where neither is.
func (l LinkID) End(node NodeID) (LinkEnd, bool) {
	switch node {
	case l.Low.Node:
		return l.Low, true
	case l.High.Node:
		return l.High, true
	}
	return LinkEnd{}, false
}

// Other returns the end opposite of one.
func (l LinkID) Other(end LinkEnd) LinkEnd {
	if end == l.Low {
		return l.High
	}
	return l.Low
}

// Compare orders by lower end, then by higher end.
func (l LinkID) Compare(o LinkID) int { return cmp.Or(l.Low.Compare(o.Low), l.High.Compare(o.High)) }

// String is the wire form.
func (l LinkID) String() string { return l.Low.String() + "~" + l.High.String() }

// MarshalText writes the wire form and refuses an invalid name.
func (l LinkID) MarshalText() ([]byte, error) {
	return marshalCanonical(l, "link", "set it from NewLinkID or ParseLinkID")
}

// UnmarshalText reads the wire form only.
func (l *LinkID) UnmarshalText(text []byte) error {
	return unmarshalCanonical(l, text, "link", ParseLinkID)
}

// Crockford is the alphabet of Douglas Crockford's base 32, lower case: the
// digits and letters without i, l, o and u.
const Crockford = "0123456789abcdefghjkmnpqrstvwxyz"

// Base32 writes bytes in Crockford characters, without padding.
func Base32() *base32.Encoding {
	return base32.NewEncoding(Crockford).WithPadding(base32.NoPadding)
}

// crockfordValue is the value 0 to 31 of a canonical character, -1 for any other byte.
func crockfordValue(c byte) int { return strings.IndexByte(Crockford, c) }

// FoldCrockford turns what a person may have typed into canonical characters:
// lower case, o read as 0, i and l read as 1, dashes and spaces dropped.
// Characters outside the alphabet stay, for the caller to refuse.
func FoldCrockford(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '-' || r == ' ':
			return -1
		case r == 'o' || r == 'O':
			return '0'
		case r == 'i' || r == 'I' || r == 'l' || r == 'L':
			return '1'
		case r >= 'A' && r <= 'Z':
			return r + ('a' - 'A')
		}
		return r
	}, s)
}
