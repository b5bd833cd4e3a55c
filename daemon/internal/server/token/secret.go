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

// Redeem turns a secret into a token, once and for the account that it was made
// for alone. by tells which account shows it, and is asked only about a secret
// that counts. Another account's try is refused and logged, and leaves the secret
// to its owner.
func (b *Book) Redeem(secret string, by func() (uid uint32, err error)) (string, Record, error) {
	key := sha256.Sum256([]byte(secret))
	p, err := b.offered(key)
	if err != nil {
		return "", Record{}, err
	}
	uid, err := by()
	if err != nil {
		b.log.Warn("a link to the dashboard was refused: nothing tells which account opened it", "uid", p.uid, "error", err)
		return "", Record{}, api.NewError(api.ReasonCallerUnknown, "")
	}
	if uid != p.uid {
		b.log.Warn("a link to the dashboard was refused: another account opened it", "uid", p.uid, "by", uid)
		return "", Record{}, api.NewError(api.ReasonOtherAccount, "")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.secrets[key]; !ok { // it was shown twice at once
		return "", Record{}, api.NewError(api.ReasonBadToken, "")
	}
	delete(b.secrets, key)
	name := browserName
	for i := 2; b.find(p.uid, name) >= 0; i++ {
		name = fmt.Sprintf("%s %d", browserName, i)
	}
	return b.create(p.uid, name, BrowserTokenTTL, false)
}

// offered finds a secret by its hash: who does not know it cannot steer what is
// compared. One that is over is forgotten.
func (b *Book) offered(key [sha256.Size]byte) (pending, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, ok := b.secrets[key]
	switch {
	case !ok:
		return pending{}, api.NewError(api.ReasonBadToken, "")
	case b.clock.Boot() >= p.deadline:
		delete(b.secrets, key)
		return pending{}, api.NewError(api.ReasonExpiredToken, "")
	}
	return p, nil
}
