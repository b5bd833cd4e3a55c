package pairing

import (
	"crypto/ed25519"
	"net/netip"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

const (
	// DefaultInviteValidity is how long an invitation counts where nobody says.
	DefaultInviteValidity = time.Hour
	// MaxInviteValidity is the longest.
	MaxInviteValidity = 24 * time.Hour
	// MaxInvitations is how many count at once.
	MaxInvitations = 16
	// explainFor is how long after a secret has stopped to count strangers are
	// still heard, to be told so.
	explainFor = time.Minute
)

// Book is the secrets by which Macs can be paired with this one now: at most one
// code, and invitations. It is safe for concurrent use.
//
// A secret is for one Mac: the first that proves it. That one may prove it again
// while it counts, because it may have lost the answer. For a code each failed
// proof counts, whoever made it, and so does one that was given up once the other
// side had what it needs to test a guess.
type Book struct {
	clock   native.Clock
	changed func()

	mu      sync.Mutex
	code    *page
	invites map[string]*page
}

// page is one secret and what became of it.
type page struct {
	secret   Secret
	expires  time.Duration // on the boot clock
	until    time.Time     // the same for people
	tries    []Try
	winner   ed25519.PublicKey // who proved it
	isTested bool              // by a proof that runs
	timer    native.Timer
}

// NewBook makes an empty book. changed is called, on any goroutine and without a
// lock, when Standing has changed.
func NewBook(clock native.Clock, changed func()) *Book {
	return &Book{clock: clock, changed: changed, invites: map[string]*page{}}
}

// Open gives a code and until when it counts, by the wall clock. While one
// counts that nobody has used, it is given again.
func (b *Book) Open() (Code, time.Time) {
	b.mu.Lock()
	if p := b.code; p != nil && p.winner == nil && b.refusalLocked(p) == "" {
		defer b.mu.Unlock()
		return p.secret.(Code), p.until
	}
	b.dropLocked(b.code)
	code := newCode()
	b.code = b.pageLocked(code, api.CodeTTL)
	until := b.code.until
	b.mu.Unlock()
	b.changed()
	return code, until
}

// Close ends the code. A proof that runs fails.
func (b *Book) Close() {
	b.mu.Lock()
	was := b.code
	b.dropLocked(was)
	b.code = nil
	b.mu.Unlock()
	if was != nil {
		b.changed()
	}
}

// Invite makes an invitation from the holder of a key, who is reached at these
// addresses, and says until when it counts, by the wall clock. A validity of 0 is
// DefaultInviteValidity.
func (b *Book) Invite(key ed25519.PublicKey, addresses []netip.Addr, port int, validity time.Duration) (Invitation, time.Time, error) {
	if validity == 0 {
		validity = DefaultInviteValidity
	}
	switch {
	case validity < 0 || validity > MaxInviteValidity:
		return Invitation{}, time.Time{}, api.Errorf(api.ReasonBadValue, "valid_s", "An invitation is valid for at most %g hours.", MaxInviteValidity.Hours())
	case len(key) != ed25519.PublicKeySize || port < 1 || port > 65535:
		return Invitation{}, time.Time{}, api.Errorf(api.ReasonBadValue, "invite", "An invitation needs a key and a port.")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	count := 0
	for _, p := range b.invites {
		if p.winner == nil && b.refusalLocked(p) == "" {
			count++
		}
	}
	if count >= MaxInvitations {
		return Invitation{}, time.Time{}, api.Errorf(api.ReasonPairingBusy, "invite", "This Mac already has %d valid invitations, the most that it can have.", count).
			WithRemedy("Use one of them, or wait until they have expired.")
	}
	i := newInvitation(key, addresses, port)
	p := b.pageLocked(i, validity)
	b.invites[i.id()] = p
	return i, p.until, nil
}

// pageLocked begins a secret's time.
func (b *Book) pageLocked(s Secret, validity time.Duration) *page {
	p := &page{secret: s, expires: b.clock.Boot() + validity, until: b.clock.Now().Add(validity)}
	p.timer = b.clock.AfterFunc(validity, func() { b.expire(p) })
	return p
}

// expire tells of the end of a secret's time, and forgets invitations a while
// after it.
func (b *Book) expire(p *page) {
	b.mu.Lock()
	if i, ok := p.secret.(Invitation); ok {
		if b.clock.Boot() >= p.expires+explainFor {
			delete(b.invites, i.id())
		} else {
			p.timer = b.clock.AfterFunc(explainFor, func() { b.expire(p) })
		}
	}
	b.mu.Unlock()
	b.changed()
}

// dropLocked ends a code's timer.
func (b *Book) dropLocked(p *page) {
	if p != nil {
		p.timer.Stop()
	}
}

// refusalLocked is why a secret does not count, whoever asks; empty where it does.
func (b *Book) refusalLocked(p *page) api.Reason {
	_, isCode := p.secret.(Code)
	switch {
	case isCode && len(p.tries) >= api.MaxCodeTries:
		return api.ReasonCodeUsedUp
	case b.clock.Boot() < p.expires:
		return ""
	case isCode:
		return api.ReasonCodeExpired
	}
	return api.ReasonInviteExpired
}

// IsListening reports whether strangers are heard: while a secret counts, and a
// minute longer, so that who comes too late is told why.
func (b *Book) IsListening() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.clock.Boot()
	if b.code != nil && now < b.code.expires+explainFor {
		return true
	}
	for _, p := range b.invites {
		if now < p.expires+explainFor {
			return true
		}
	}
	return false
}

// Standing is what the code's screen shows.
type Standing struct {
	// Code is the code, also where it no longer counts; zero where none is open.
	Code Code
	// ExpiresAt is when it stops to count, by the wall clock.
	ExpiresAt time.Time
	// TriesLeft counts the wrong codes that are still allowed.
	TriesLeft int
	// Tries are the proofs that failed, in their order.
	Tries []Try
	// UsedBy is who proved it; empty while nobody has.
	UsedBy api.NodeID
	// Reason is why it does not count any more: code_expired or code_used_up;
	// empty while it does.
	Reason api.Reason
}

// IsOpen reports whether the code waits for somebody to prove it.
func (s Standing) IsOpen() bool { return !s.Code.IsZero() && s.Reason == "" && s.UsedBy == "" }

// Standing is the code as it stands.
func (b *Book) Standing() Standing {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.code
	if p == nil {
		return Standing{}
	}
	s := Standing{Code: p.secret.(Code), ExpiresAt: p.until, TriesLeft: p.left(), Tries: slices.Clone(p.tries), Reason: b.refusalLocked(p)}
	if p.winner != nil {
		s.UsedBy = api.NodeIDFromKey(p.winner)
	}
	return s
}

// left counts the failed proofs that are still allowed.
func (p *page) left() int { return max(0, api.MaxCodeTries-len(p.tries)) }

// Try is a proof that failed, for the screen that shows the code.
type Try struct {
	// Node is the id of the key that the other side has shown. Anybody can make
	// a new key.
	Node api.NodeID
	// Address is from where it came.
	Address netip.AddrPort
	// Interface is by which of this node's interfaces.
	Interface string
	// At is when, by the wall clock.
	At time.Time
}
