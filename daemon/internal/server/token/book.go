package token

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"log/slog"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

const (
	// MaxPerUser bounds the tokens of one uid.
	MaxPerUser = 64
	// usedStep is how coarse UsedAt is: a token in steady use is written to disk
	// once an hour.
	usedStep = time.Hour
)

// Book is all tokens and pending secrets of a daemon.
type Book struct {
	store Store
	clock native.Clock
	log   *slog.Logger

	mu      sync.Mutex
	records []Record
	secrets map[[sha256.Size]byte]pending
}

// Open reads the records. What expires while nobody looks is removed when its
// owner next lists or makes tokens.
func Open(store Store, clock native.Clock, log *slog.Logger) (*Book, error) {
	records, err := store.LoadTokens()
	if err != nil {
		return nil, err
	}
	return &Book{store: store, clock: clock, log: log, records: records, secrets: map[[sha256.Size]byte]pending{}}, nil
}

// Create makes a token; valid 0 means for ever. The text is given once and not kept.
func (b *Book) Create(uid uint32, name string, valid time.Duration) (string, Record, error) {
	return b.createFor(uid, name, valid, false)
}

// CreateKey is Create for a key of the endpoint, which counts there alone.
func (b *Book) CreateKey(uid uint32, name string, valid time.Duration) (string, Record, error) {
	return b.createFor(uid, name, valid, true)
}

func (b *Book) createFor(uid uint32, name string, valid time.Duration, isKey bool) (string, Record, error) {
	if err := checkName(name); err != nil {
		return "", Record{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.create(uid, name, valid, isKey)
}

func (b *Book) create(uid uint32, name string, valid time.Duration, isKey bool) (string, Record, error) {
	b.prune(uid)
	if b.find(uid, name) >= 0 {
		return "", Record{}, api.Errorf(api.ReasonNameTaken, name, "You already have a token with the name %q.", name).
			WithRemedy("Revoke it first, or use another name.")
	}
	if b.count(uid) >= MaxPerUser {
		return "", Record{}, tooMany()
	}
	text := newText()
	now := b.now()
	r := Record{SHA256: hashText(text), UID: uid, Name: name, Endpoint: isKey, CreatedAt: now}
	if valid > 0 {
		r.ExpiresAt = api.TimeOf(now.Add(valid))
	}
	if err := b.store.SaveToken(r); err != nil {
		return "", Record{}, err
	}
	b.records = append(b.records, r)
	return text, r, nil
}

// Check finds the record of a token's text. The error is api.ReasonBadToken or
// api.ReasonExpiredToken. Every record is compared, in constant time, so that
// the time taken says nothing about which it was nor how close.
func (b *Book) Check(text string) (Record, error) { return b.check(text, false) }

// CheckKey is Check for a key of the endpoint.
func (b *Book) CheckKey(text string) (Record, error) { return b.check(text, true) }

func (b *Book) check(text string, isKey bool) (Record, error) {
	hash := []byte(hashText(text))
	b.mu.Lock()
	found := -1
	for i := range b.records {
		if subtle.ConstantTimeCompare(hash, []byte(b.records[i].SHA256)) == 1 && b.records[i].Endpoint == isKey {
			found = i
		}
	}
	if found < 0 {
		b.mu.Unlock()
		return Record{}, api.NewError(api.ReasonBadToken, "")
	}
	now := b.now()
	r := &b.records[found]
	if r.expired(now) {
		b.mu.Unlock()
		return Record{}, api.NewError(api.ReasonExpiredToken, "")
	}
	stale := now.Sub(r.UsedAt.Time) >= usedStep || now.Before(r.UsedAt.Time)
	if stale {
		r.UsedAt = now
		// A full disk must not lock anybody out: the time of use is a courtesy.
		if err := b.store.SaveToken(*r); err != nil {
			b.log.Warn("the last use of a token was not saved", "name", r.Name, "uid", r.UID, "error", err)
		}
	}
	out := *r
	b.mu.Unlock()
	return out, nil
}

// Stands reports whether a record that Check gave has not been revoked since.
func (b *Book) Stands(r Record) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.records, func(o Record) bool { return o.SHA256 == r.SHA256 })
}

// List gives a user's tokens, ordered by when they were made.
func (b *Book) List(uid uint32) []Record {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.prune(uid)
	var out []Record
	for _, r := range b.records {
		if r.UID == uid {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, c Record) int { return a.CreatedAt.Compare(c.CreatedAt.Time) })
	return out
}

// Revoke ends a user's token and gives what it was.
func (b *Book) Revoke(uid uint32, name string) (Record, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := b.find(uid, name)
	if i < 0 {
		return Record{}, noSuchToken(name)
	}
	r := b.records[i]
	if err := b.store.DeleteToken(r.SHA256); err != nil {
		return Record{}, err
	}
	b.records = slices.Delete(b.records, i, i+1)
	return r, nil
}

// prune removes a user's expired tokens. One that cannot be removed from the
// store stays, and expires again after the next start.
func (b *Book) prune(uid uint32) {
	now := b.now()
	b.records = slices.DeleteFunc(b.records, func(r Record) bool {
		if r.UID != uid || !r.expired(now) {
			return false
		}
		if err := b.store.DeleteToken(r.SHA256); err != nil {
			b.log.Warn("an expired token was not removed", "name", r.Name, "uid", r.UID, "error", err)
			return false
		}
		return true
	})
}

func (b *Book) find(uid uint32, name string) int {
	return slices.IndexFunc(b.records, func(r Record) bool { return r.UID == uid && r.Name == name })
}

func (b *Book) count(uid uint32) int {
	n := 0
	for _, r := range b.records {
		if r.UID == uid {
			n++
		}
	}
	return n
}

func (b *Book) now() api.Time { return api.TimeOf(b.clock.Now()) }

func hashText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Record is what is kept of a token.
type Record struct {
	// SHA256 is the hash of the token's text, lower-case hex. A token has 256
	// random bits, so that a fast hash is enough: there is nothing to guess.
	SHA256 string `json:"sha256"`
	// UID is whom the token speaks for.
	UID uint32 `json:"uid"`
	// Name tells it apart from others of the same uid.
	Name string `json:"name"`
	// Endpoint says that it counts at the endpoint, and nowhere else.
	Endpoint bool `json:"endpoint,omitempty"`
	// CreatedAt is when it was made.
	CreatedAt api.Time `json:"created_at"`
	// UsedAt is when it was last used, to the hour.
	UsedAt api.Time `json:"used_at,omitzero"`
	// ExpiresAt is when it stops to count; zero = never.
	ExpiresAt api.Time `json:"expires_at,omitzero"`
}

// Info is the record as its owner sees it.
func (r Record) Info() api.TokenInfo {
	return api.TokenInfo{Name: r.Name, Endpoint: r.Endpoint, CreatedAt: r.CreatedAt, UsedAt: r.UsedAt, ExpiresAt: r.ExpiresAt}
}

func (r Record) expired(now api.Time) bool {
	return !r.ExpiresAt.IsZero() && !now.Before(r.ExpiresAt.Time)
}

// Store keeps records over a restart. A call returns when the change is on disk.
type Store interface {
	// LoadTokens reads all records, in any order.
	LoadTokens() ([]Record, error)
	// SaveToken writes a record, in place of the one with the same hash.
	SaveToken(Record) error
	// DeleteToken removes the record with a hash; one that is not there is no error.
	DeleteToken(sha256 string) error
}
