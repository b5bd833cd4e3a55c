package pairing

import (
	"context"
	"net/netip"

	"fulmen/daemon/api"
	"fulmen/native"
)

// Claim is what a Mac that shows a code says of itself to whoever asks. It is
// unproved, and said because a person who is to type the code must know whose.
type Claim struct {
	// Name is its friendly name.
	Name string `json:"name"`
	// ModelName is what people call the model.
	ModelName string `json:"model_name,omitempty"`
	// ValidMS is how long its code still counts, in milliseconds, at most
	// api.CodeTTL.
	ValidMS int64 `json:"valid_ms"`
	// TriesLeft counts the wrong codes that it still allows.
	TriesLeft int `json:"tries_left"`
}

func (c *Claim) isValid() bool {
	return c.Name != "" && c.Name == plain(c.Name) && c.ModelName == plain(c.ModelName) &&
		c.ValidMS > 0 && c.ValidMS <= api.CodeTTL.Milliseconds() && c.TriesLeft > 0 && c.TriesLeft <= api.MaxCodeTries
}

// Asking is a Claim with who made it and from where.
type Asking struct {
	// Node is the id of the key that it has shown, so that nobody speaks for
	// another one.
	Node api.NodeID
	// Interface is by which of this node's interfaces it is reached; empty = not
	// known.
	Interface string
	// Address is where it listens for peers.
	Address netip.AddrPort
	Claim
}

// Ask asks a Mac that shows a code who it is. It hears nothing of this one but
// the key of the connection. Where no code counts there the error is
// pairing_not_open; those of Enter are possible too.
func Ask(ctx context.Context, conn Conn, clock native.Clock) (claim Claim, err error) {
	defer recovered(conn, &err)
	l, done := open(ctx, conn, clock)
	defer done()
	if err := l.greet(true); err != nil {
		return Claim{}, err
	}
	m, err := l.ask(message{Ask: &empty{}}, "the other Mac to say who it is", "claim")
	if err != nil {
		return Claim{}, err
	}
	return *m.Claim, nil
}

// answer says who this Mac is while it shows a code.
func (s *Side) answer(l *line, book *Book) (Outcome, error) {
	standing := book.Standing()
	left := standing.ExpiresAt.Sub(s.Clock.Now())
	claim := Claim{Name: s.Card.Name, ModelName: s.Card.ModelName, ValidMS: min(left, api.CodeTTL).Milliseconds(), TriesLeft: standing.TriesLeft}
	if !standing.IsOpen() || !claim.isValid() {
		return Outcome{}, l.refuse(api.NewError(api.ReasonPairingNotOpen, ""), 0)
	}
	return Outcome{WasAsked: true}, l.send(message{Claim: &claim})
}
