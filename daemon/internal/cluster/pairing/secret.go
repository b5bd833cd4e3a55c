package pairing

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"

	"fulmen/daemon/api"
)

// CodeLength is the number of characters of a code: 40 bits, of which nobody can
// try more than api.MaxCodeTries.
const CodeLength = 8

// Code is the short secret that one Mac shows and a person types on the other.
// Printing it does not show it. The zero value is none.
type Code struct{ sealed }

func newCode() Code {
	random := make([]byte, CodeLength*5/8)
	rand.Read(random) // never fails: it ends the process where the system has no randomness
	return codeOf(api.Base32().EncodeToString(random))
}

func codeOf(canonical string) Code { return Code{seal("a pairing code", canonical)} }

// ParseCode reads a code as people write it: dashes and spaces anywhere, either
// case, o for 0, i and l for 1. The error does not repeat it.
func ParseCode(s string) (Code, error) {
	folded := api.FoldCrockford(strings.TrimSpace(s))
	if len(folded) != CodeLength || strings.Trim(folded, api.Crockford) != "" {
		return Code{}, api.Errorf(api.ReasonBadValue, "code", "A pairing code has %d characters: digits, and letters except u.", CodeLength).
			WithRemedy("Read the code on the other Mac again.")
	}
	return codeOf(folded), nil
}

// Reveal is the code for the screen of whoever may see it, two groups of four.
func (c Code) Reveal() string {
	s := strings.ToUpper(c.reveal())
	if len(s) != CodeLength {
		return ""
	}
	return s[:CodeLength/2] + "-" + s[CodeLength/2:]
}

func (c Code) kind() secretKind          { return kindCode }
func (c Code) id() string                { return "" }
func (c Code) pinned() ed25519.PublicKey { return nil }

// Secret is what both sides of a pairing know: a Code or an Invitation.
type Secret interface {
	// kind says which.
	kind() secretKind
	// id tells several invitations of a Mac apart, and says nothing of the secret.
	id() string
	// pinned is the key of who made it; nil where only the secret says who it is.
	pinned() ed25519.PublicKey
	// reveal is what CPace proves.
	reveal() string
	// IsZero reports whether there is none.
	IsZero() bool
}

// secretKind is what a proof is of.
type secretKind string

const (
	kindCode   secretKind = "code"
	kindInvite secretKind = "invite"
)

// sealed is a secret that no log, error or document has, whichever way a value
// with it is printed. The pointer is a part of that: package fmt calls no methods
// on unexported fields of a struct, but it does not follow their pointers either.
type sealed struct {
	what   string
	secret *string
}

func seal(what, secret string) sealed { return sealed{what: what, secret: &secret} }

// reveal is the secret itself; empty where there is none.
func (s sealed) reveal() string {
	if s.secret == nil {
		return ""
	}
	return *s.secret
}

// IsZero reports whether there is no secret.
func (s sealed) IsZero() bool { return s.secret == nil }

// String says what it is.
func (s sealed) String() string { return "(" + s.what + ", not shown)" }

// GoString is String.
func (s sealed) GoString() string { return s.String() }

// Format is String, for all verbs.
func (s sealed) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.String()) }

// MarshalJSON is String.
func (s sealed) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// LogValue is String.
func (s sealed) LogValue() slog.Value { return slog.StringValue(s.String()) }
