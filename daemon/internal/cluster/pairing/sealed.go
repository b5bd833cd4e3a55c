package pairing

import (
	"encoding/json"
	"fmt"
	"log/slog"
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
