package pairing

import (
	"context"
	"net/netip"

	"fulmen/daemon/api"
	"fulmen/native"
)

// Claim is what a Mac says of itself that shows a code and asks another one to
// let it in. It says so unproved, because a person must know what to look for;
// of the other Mac it hears nothing.
type Claim struct {
	// Name is its friendly name.
	Name string `json:"name"`
	// ModelName is what people call the model.
	ModelName string `json:"model_name,omitempty"`
	// Port is where it listens for peers.
	Port int `json:"port"`
	// ValidMS is how long its code still counts, in milliseconds, at most
	// api.CodeTTL.
	ValidMS int64 `json:"valid_ms"`
	// TriesLeft counts the wrong codes that it still allows.
	TriesLeft int `json:"tries_left"`
}

func (c *Claim) isValid() bool {
	return c.Name == plain(c.Name) && c.ModelName == plain(c.ModelName) && c.Port > 0 && c.Port <= 65535 &&
		c.ValidMS > 0 && c.ValidMS <= api.CodeTTL.Milliseconds() && c.TriesLeft > 0 && c.TriesLeft <= api.MaxCodeTries
}

// Asking is a Claim with who made it and from where.
type Asking struct {
	// Node is the id of the key that it has shown, so that nobody speaks for
	// another one.
	Node api.NodeID
	// Interface is by which of this node's interfaces it came; empty = not known.
	Interface string
	// Remote is its address.
	Remote netip.Addr
	Claim
}

// Ask makes an entry in the inbox of the Mac that was dialled. It does not say
// what becomes of it.
func Ask(ctx context.Context, conn Conn, clock native.Clock, claim Claim) (err error) {
	defer recovered(conn, &err)
	claim.Name, claim.ModelName = plain(claim.Name), plain(claim.ModelName)
	if !claim.isValid() {
		return api.NewError(api.ReasonBadValue, "ask")
	}
	l, done := open(ctx, conn, clock)
	defer done()
	if err := l.greet(true); err != nil {
		return err
	}
	if err := l.send(message{Ask: &claim}); err != nil {
		return err
	}
	_, err = l.receive("the other Mac to hear it", "heard")
	return err
}
