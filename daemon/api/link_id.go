package api

import (
	"cmp"
	"strings"
)

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
		return LinkID{}, malformed("link", l.String(), "needs two different receptacles", "name both ends as NODE:RECEPTACLE")
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

// Compare orders by lower end, then by higher end.
func (l LinkID) Compare(o LinkID) int { return cmp.Or(l.Low.Compare(o.Low), l.High.Compare(o.High)) }

// String is the wire form.
func (l LinkID) String() string { return l.Low.String() + "~" + l.High.String() }

// MarshalText writes the wire form and refuses an invalid name.
func (l LinkID) MarshalText() ([]byte, error) {
	if !l.Valid() {
		return nil, malformed("link", l.String(), "is not valid", "set it from NewLinkID or ParseLinkID")
	}
	return []byte(l.String()), nil
}

// UnmarshalText reads the wire form only.
func (l *LinkID) UnmarshalText(text []byte) error {
	return unmarshalCanonical(l, text, "link", ParseLinkID)
}
