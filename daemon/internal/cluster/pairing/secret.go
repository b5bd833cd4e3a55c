package pairing

import "crypto/ed25519"

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
