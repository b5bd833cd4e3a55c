package token

import (
	"crypto/sha256"
	"fmt"
	"time"

	"fulmen/daemon/api"
)

const (
	// BrowserTokenTTL is how long the token of a browser counts: longer than a
	// working day, so that a page left open goes on, and not for ever, because
	// nobody looks after tokens of pages that were closed.
	BrowserTokenTTL = 24 * time.Hour
	// browserName is what the tokens of browsers are called.
	browserName = "dashboard"
	// maxSecrets bounds the secrets that wait to be used, of one uid.
	maxSecrets = 16
)

// pending is a one-time secret that nobody has used yet.
type pending struct {
	uid      uint32
	deadline time.Duration // on Clock.Boot: sleep counts
}

// Offer makes a one-time secret for a user.
func (b *Book) Offer(uid uint32) (string, api.Time, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	boot := b.clock.Boot()
	mine := 0
	for key, p := range b.secrets {
		if boot >= p.deadline {
			delete(b.secrets, key)
		} else if p.uid == uid {
			mine++
		}
	}
	if mine >= maxSecrets {
		return "", api.Time{}, tooMany()
	}
	text := newText()
	b.secrets[sha256.Sum256([]byte(text))] = pending{uid: uid, deadline: boot + api.BrowserSecretTTL}
	return text, api.TimeOf(b.clock.Now().Add(api.BrowserSecretTTL)), nil
}

// Redeem turns a secret into a token, once. The secret is found by its hash:
// who does not know it cannot steer what is compared.
func (b *Book) Redeem(secret string) (string, Record, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := sha256.Sum256([]byte(secret))
	p, ok := b.secrets[key]
	delete(b.secrets, key)
	if !ok {
		return "", Record{}, api.NewError(api.ReasonBadToken, "")
	}
	if b.clock.Boot() >= p.deadline {
		return "", Record{}, api.NewError(api.ReasonExpiredToken, "")
	}
	name := browserName
	for i := 2; b.find(p.uid, name) >= 0; i++ {
		name = fmt.Sprintf("%s %d", browserName, i)
	}
	return b.create(p.uid, name, BrowserTokenTTL)
}
