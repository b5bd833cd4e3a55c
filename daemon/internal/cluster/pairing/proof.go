package pairing

import (
	"crypto/ed25519"

	"fulmen/daemon/api"
)

// proof is one run of CPace against a secret of the book. A secret has one at a
// time, so that the tries are counted before the next guess.
type proof struct {
	book *Book
	page *page
	try  Try
	key  ed25519.PublicKey
	// isShared says that the other side has, or may have, what tests a guess.
	isShared bool
	isOver   bool
}

// begin finds the secret that the holder of a key wants to prove. end must be
// called.
func (b *Book) begin(kind secretKind, id string, conn Conn) (*proof, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, absent, used := b.code, api.ReasonPairingNotOpen, api.ReasonPairingNotOpen
	if kind == kindInvite {
		p, absent, used = b.invites[id], api.ReasonInviteExpired, api.ReasonInviteUsed
	}
	if p == nil {
		return nil, api.NewError(absent, "")
	}
	if reason := b.refusalLocked(p); reason != "" {
		return nil, api.NewError(reason, "")
	}
	switch {
	case p.winner != nil && !p.winner.Equal(conn.PeerKey):
		return nil, api.NewError(used, "")
	case p.isTested:
		return nil, api.NewError(api.ReasonPairingBusy, "")
	}
	p.isTested = true
	return &proof{book: b, page: p, key: conn.PeerKey,
		try: Try{Node: conn.Peer(), Address: conn.Remote, Interface: conn.Interface}}, nil
}

// secret is what is to be proved.
func (p *proof) secret() Secret { return p.page.secret }

// share says that the other side is about to get what it can test one guess
// with: from now on an end without success is a failed proof.
func (p *proof) share() {
	p.book.mu.Lock()
	defer p.book.mu.Unlock()
	p.isShared = true
}

// succeed gives the secret to whoever has proved it, if it still counts: it may
// have expired, or been closed, in the meantime. Then that is the error, and no
// try is lost.
func (p *proof) succeed() error {
	b := p.book
	b.mu.Lock()
	if p.isOver {
		b.mu.Unlock()
		return api.NewError(api.ReasonInternal, "")
	}
	p.isOver, p.page.isTested = true, false
	reason := b.refusalLocked(p.page)
	if !b.hasLocked(p.page) {
		reason = api.ReasonPairingNotOpen
	}
	if reason == "" {
		p.page.winner = p.key
	}
	b.mu.Unlock()
	if reason != "" {
		return api.NewError(reason, "")
	}
	b.changed()
	return nil
}

// end is the failure, where there was no success before.
func (p *proof) end() {
	b := p.book
	b.mu.Lock()
	if p.isOver {
		b.mu.Unlock()
		return
	}
	p.isOver, p.page.isTested = true, false
	if p.isShared {
		p.try.At = b.clock.Now()
		p.page.tries = append(p.page.tries, p.try)
	}
	b.mu.Unlock()
	if p.isShared {
		b.changed()
	}
}

// fail ends the proof. It is what the other side is told, and how many tries are
// left.
func (p *proof) fail() (err *api.Error, left int) {
	p.end()
	p.book.mu.Lock()
	defer p.book.mu.Unlock()
	left = p.page.left()
	switch {
	case p.page.secret.kind() == kindInvite:
		return api.NewError(api.ReasonConfirmationFailed, ""), 0
	case left == 0:
		return api.NewError(api.ReasonCodeUsedUp, ""), 0
	}
	return wrongCode(left), left
}

// hasLocked reports whether a secret was not closed.
func (b *Book) hasLocked(p *page) bool {
	return b.code == p || b.invites[p.secret.id()] == p
}
