package pairing

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"log/slog"
)

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
