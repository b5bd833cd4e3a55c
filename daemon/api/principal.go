package api

import (
	"cmp"
	"strings"
)

// MaxUserLength bounds the user part of a principal, in bytes.
const MaxUserLength = 64

// Principal is a local account of a node, `user@node`, and that node alone
// vouches for it. It says who asks; as which account a job runs on a Mac is
// that Mac's own map.
type Principal struct {
	User string
	Node NodeID
}

// ParsePrincipal reads a principal; the node id as people write it, the user
// exactly, since account names are case-sensitive.
func ParsePrincipal(s string) (Principal, error) {
	const field = "principal"
	at := strings.LastIndexByte(s, '@')
	if at < 0 {
		return Principal{}, malformed(field, s, "has no @", "write it as user@NODE-ID")
	}
	if !validUser(s[:at]) {
		return Principal{}, malformed(field, s, "the user part is not an account name",
			"use 1 to 64 of letters, digits, . _ - + $ and \\, not beginning with -")
	}
	node, err := ParseNodeID(s[at+1:])
	if err != nil {
		return Principal{}, err
	}
	return Principal{User: s[:at], Node: node}, nil
}

// Valid reports whether both parts are well-formed.
func (p Principal) Valid() bool { return validUser(p.User) && p.Node.Valid() }

// Compare orders by node, then by user.
func (p Principal) Compare(o Principal) int {
	return cmp.Or(cmp.Compare(p.Node, o.Node), cmp.Compare(p.User, o.User))
}

// String is the wire form.
func (p Principal) String() string { return p.User + "@" + string(p.Node) }

// MarshalText writes the wire form and refuses an invalid principal.
func (p Principal) MarshalText() ([]byte, error) {
	return marshalCanonical(p, "principal", "set an account name and a node id")
}

// UnmarshalText reads the wire form only.
func (p *Principal) UnmarshalText(text []byte) error {
	return unmarshalCanonical(p, text, "principal", ParsePrincipal)
}

func validUser(s string) bool {
	if s == "" || len(s) > MaxUserLength || s[0] == '-' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alnum && !strings.ContainsRune("._-+$\\", rune(c)) {
			return false
		}
	}
	return true
}
