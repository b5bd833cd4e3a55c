package pairing

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base32"
	"strings"

	"fulmen/daemon/api"
)

// CodeLength is the number of characters of a code: 40 bits, of which nobody can
// try more than api.MaxCodeTries.
const CodeLength = 8

// alphabet is that of Douglas Crockford's base 32.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

func base32Encoding() *base32.Encoding {
	return base32.NewEncoding(alphabet).WithPadding(base32.NoPadding)
}

// Code is the short secret that one Mac shows and a person types on the other.
// Printing it does not show it. The zero value is none.
type Code struct{ sealed }

func newCode() Code {
	random := make([]byte, CodeLength*5/8)
	rand.Read(random) // never fails: it ends the process where the system has no randomness
	return codeOf(base32Encoding().EncodeToString(random))
}

func codeOf(canonical string) Code { return Code{seal("a pairing code", canonical)} }

// ParseCode reads a code as people write it: dashes and spaces anywhere, either
// case, o for 0, i and l for 1. The error does not repeat it.
func ParseCode(s string) (Code, error) {
	folded := api.FoldCrockford(strings.TrimSpace(s))
	if len(folded) != CodeLength || strings.Trim(folded, alphabet) != "" {
		e := api.Errorf(api.ReasonBadValue, "code", "A pairing code has %d characters, digits and letters without u.", CodeLength)
		e.Data.Remedy = "Read the code on the other Mac again."
		return Code{}, e
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
