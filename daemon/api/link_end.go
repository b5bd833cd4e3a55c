package api

import (
	"cmp"
	"strconv"
	"strings"
)

// LinkEnd is one end of a cable: a receptacle of a node, written `ID:1`.
type LinkEnd struct {
	Node       NodeID
	Receptacle Receptacle
}

// ParseLinkEnd reads a cable's end; the node id as people write it.
func ParseLinkEnd(s string) (LinkEnd, error) {
	node, port, ok := strings.Cut(s, ":")
	if !ok {
		return LinkEnd{}, malformed("cable end", s, "has no receptacle", "write it as NODE:RECEPTACLE, such as 7h3k...:1")
	}
	id, err := ParseNodeID(node)
	if err != nil {
		return LinkEnd{}, err
	}
	r, err := ParseReceptacle(port)
	if err != nil {
		return LinkEnd{}, err
	}
	return LinkEnd{Node: id, Receptacle: r}, nil
}

// Valid reports whether both parts are set and canonical.
func (e LinkEnd) Valid() bool {
	return e.Receptacle >= 1 && e.Receptacle <= MaxReceptacle && e.Node.Valid()
}

// Compare orders by node id, then by receptacle as a number.
func (e LinkEnd) Compare(o LinkEnd) int {
	return cmp.Or(cmp.Compare(e.Node, o.Node), cmp.Compare(e.Receptacle, o.Receptacle))
}

// String is the wire form.
func (e LinkEnd) String() string { return string(e.Node) + ":" + e.Receptacle.String() }

// MarshalText writes the wire form and refuses an invalid end.
func (e LinkEnd) MarshalText() ([]byte, error) {
	if !e.Valid() {
		return nil, malformed("cable end", e.String(), "is not valid", "set node and receptacle (from 1)")
	}
	return []byte(e.String()), nil
}

// UnmarshalText reads the wire form only.
func (e *LinkEnd) UnmarshalText(text []byte) error {
	return unmarshalCanonical(e, text, "cable end", ParseLinkEnd)
}

// MaxReceptacle is the highest number of a receptacle.
const MaxReceptacle = 255

// Receptacle is the number of a Thunderbolt socket of a Mac, 1 to 255, as the
// system itself numbers it. Where it sits on the case is a fact of the
// thunderbolt document. Zero is no receptacle.
type Receptacle int // not uint8: encoding/json writes a slice of those as base64

// ParseReceptacle reads a receptacle number.
func ParseReceptacle(s string) (Receptacle, error) {
	n, err := parseCount("receptacle", s, 1, MaxReceptacle)
	return Receptacle(n), err
}

// String is the decimal number.
func (r Receptacle) String() string { return strconv.Itoa(int(r)) }
