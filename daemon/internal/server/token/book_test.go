package token

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native"
)

// disk is a store in memory that can be full.
type disk struct {
	records map[string]Record
	full    bool
	writes  int
}

func (d *disk) LoadTokens() ([]Record, error) {
	var out []Record
	for _, r := range d.records {
		out = append(out, r)
	}
	return out, nil
}

func (d *disk) SaveToken(r Record) error {
	if d.full {
		return errors.New("disk full")
	}
	d.writes++
	d.records[r.SHA256] = r
	return nil
}

func (d *disk) DeleteToken(hash string) error {
	if d.full {
		return errors.New("disk full")
	}
	delete(d.records, hash)
	return nil
}

// bench is a book on a clock that the test moves.
type bench struct {
	*Book
	disk *disk
	wall time.Time
	boot time.Duration
}

func newBench(t *testing.T) *bench {
	b := &bench{disk: &disk{records: map[string]Record{}}, wall: time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)}
	b.open(t)
	return b
}

func (b *bench) open(t *testing.T) {
	clock := native.ClockFrom(func() time.Time { return b.wall }, func() time.Duration { return b.boot })
	book, err := Open(b.disk, clock, slog.New(slog.DiscardHandler))
	is.New(t).NoErr(err)
	b.Book = book
}

func (b *bench) pass(d time.Duration) { b.wall, b.boot = b.wall.Add(d), b.boot+d }

func TestTokenLife(t *testing.T) {
	is := is.New(t)
	b := newBench(t)
	text, made, err := b.Create(501, "script", 0)
	is.NoErr(err)
	is.True(strings.HasPrefix(text, "fulmen_"))
	is.Equal(len(text), len("fulmen_")+43) // 256 bits in base64
	got, err := b.Check(text)
	is.NoErr(err)
	is.Equal(got.UID, uint32(501))
	is.Equal(got.Name, "script")
	is.Equal(got.UsedAt, made.CreatedAt)

	b.open(t) // a restart
	_, err = b.Check(text)
	is.NoErr(err)

	_, err = b.Revoke(502, "script") // foreign
	is.True(errors.Is(err, api.ReasonNoSuchToken))
	is.True(b.Stands(got))
	_, err = b.Revoke(501, "script")
	is.NoErr(err)
	is.True(!b.Stands(got))
	_, err = b.Check(text)
	is.True(errors.Is(err, api.ReasonBadToken))
	is.Equal(len(b.disk.records), 0)
}

func TestOnlyHashesAreKept(t *testing.T) {
	is := is.New(t)
	b := newBench(t)
	text, _, err := b.Create(501, "script", 0)
	is.NoErr(err)
	kept := fmt.Sprint(b.disk.records, b.records)
	is.True(!strings.Contains(kept, text))
	is.True(!strings.Contains(kept, strings.TrimPrefix(text, prefix)))
}

func TestWrongTokens(t *testing.T) {
	b := newBench(t)
	good, record, err := b.Create(501, "script", 0)
	is.New(t).NoErr(err)
	for _, text := range []string{"", "fulmen_", good[:len(good)-1], good + "x", strings.ToUpper(good), " " + good,
		strings.TrimPrefix(good, prefix), record.SHA256, strings.Repeat("x", 1<<20)} {
		_, err := b.Check(text)
		is.New(t).True(errors.Is(err, api.ReasonBadToken))
	}
}

func TestExpiry(t *testing.T) {
	is := is.New(t)
	b := newBench(t)
	text, made, err := b.Create(501, "short", time.Hour)
	is.NoErr(err)
	is.Equal(made.ExpiresAt.Sub(made.CreatedAt.Time), time.Hour)
	b.pass(time.Hour - time.Millisecond)
	_, err = b.Check(text)
	is.NoErr(err)
	b.pass(time.Millisecond)
	_, err = b.Check(text)
	is.True(errors.Is(err, api.ReasonExpiredToken))
	is.Equal(len(b.List(501)), 0)
	is.Equal(len(b.disk.records), 0)
	_, _, err = b.Create(501, "short", 0) // the name is free again
	is.NoErr(err)
}

func TestNamesAndLimits(t *testing.T) {
	is := is.New(t)
	b := newBench(t)
	for _, name := range []string{"", "a\nb", "a\x1b[31m", "\xff", strings.Repeat("x", 65), "a\u202eb"} {
		_, _, err := b.Create(501, name, 0)
		is.True(errors.Is(err, api.CodeInvalid))
	}
	_, _, err := b.Create(501, "café 1", 0)
	is.NoErr(err)
	_, _, err = b.Create(501, "café 1", 0)
	is.True(errors.Is(err, api.ReasonNameTaken))
	_, _, err = b.Create(502, "café 1", 0) // another user's name is no conflict
	is.NoErr(err)
	for i := range MaxPerUser - 1 {
		_, _, err = b.Create(501, fmt.Sprint("t", i), 0)
		is.NoErr(err)
	}
	_, _, err = b.Create(501, "one more", 0)
	is.True(errors.Is(err, api.ReasonTooManyTokens))
	_, _, err = b.Create(502, "one more", 0)
	is.NoErr(err)
	is.Equal(len(b.List(502)), 2)
	is.True(slices.IsSortedFunc(b.List(501), func(a, c Record) int { return a.CreatedAt.Compare(c.CreatedAt.Time) }))
}

func TestUseIsWrittenOnceAnHour(t *testing.T) {
	is := is.New(t)
	b := newBench(t)
	text, _, err := b.Create(501, "script", 0)
	is.NoErr(err)
	before := b.disk.writes
	for range 100 {
		_, err = b.Check(text)
		is.NoErr(err)
		b.pass(36 * time.Second)
	}
	is.Equal(b.disk.writes-before, 1)
	b.disk.full = true
	_, err = b.Check(text) // a full disk locks nobody out
	is.NoErr(err)
	_, _, err = b.Create(501, "other", 0) // and nothing is made that would be lost
	is.True(err != nil)
	_, err = b.Revoke(501, "script") // nor is anything said to be gone that would come back
	is.True(err != nil)
	is.Equal(len(b.List(501)), 1)
}

func by(uid uint32) func() (uint32, error) { return func() (uint32, error) { return uid, nil } }

func TestSecretWorksOnceForThirtySeconds(t *testing.T) {
	is := is.New(t)
	b := newBench(t)
	secret, expires, err := b.Offer(501)
	is.NoErr(err)
	is.Equal(expires.Sub(b.wall), api.BrowserSecretTTL)
	_, err = b.Check(secret) // a secret is no token
	is.True(errors.Is(err, api.ReasonBadToken))
	_, _, err = b.Redeem(secret, by(502))
	is.True(errors.Is(err, api.ReasonOtherAccount))
	_, _, err = b.Redeem(secret, func() (uint32, error) { return 501, errors.New("nobody tells") })
	is.True(errors.Is(err, api.ReasonCallerUnknown))
	text, record, err := b.Redeem(secret, by(501)) // neither has used it up
	is.NoErr(err)
	is.Equal(record.UID, uint32(501))
	is.Equal(record.Name, "dashboard")
	is.True(!record.ExpiresAt.IsZero())
	_, err = b.Check(text)
	is.NoErr(err)
	_, _, err = b.Redeem(secret, by(501))
	is.True(errors.Is(err, api.ReasonBadToken))

	late, _, err := b.Offer(501)
	is.NoErr(err)
	b.boot += api.BrowserSecretTTL // the wall clock was set back meanwhile
	b.wall = b.wall.Add(-time.Hour)
	_, _, err = b.Redeem(late, by(501))
	is.True(errors.Is(err, api.ReasonExpiredToken))

	second, _, err := b.Offer(501)
	is.NoErr(err)
	_, record, err = b.Redeem(second, by(501))
	is.NoErr(err)
	is.Equal(record.Name, "dashboard 2")
}

func TestSecretsAreBounded(t *testing.T) {
	is := is.New(t)
	b := newBench(t)
	for range maxSecrets {
		_, _, err := b.Offer(501)
		is.NoErr(err)
	}
	_, _, err := b.Offer(501)
	is.True(errors.Is(err, api.CodeExhausted))
	_, _, err = b.Offer(502)
	is.NoErr(err)
	b.pass(api.BrowserSecretTTL)
	_, _, err = b.Offer(501)
	is.NoErr(err)
	is.Equal(len(b.secrets), 1)
}

// A key of the endpoint counts there and nowhere else, and a token not there.
func TestKeysOfTheEndpoint(t *testing.T) {
	is := is.New(t)
	b := newBench(t)
	key, made, err := b.CreateKey(501, "phone", time.Hour)
	is.NoErr(err)
	is.True(made.Info().Endpoint)
	token, _, err := b.Create(501, "script", 0)
	is.NoErr(err)
	b.open(t) // it is on disk
	found, err := b.CheckKey(key)
	is.NoErr(err)
	is.Equal(found.UID, uint32(501))
	_, err = b.Check(key)
	is.True(errors.Is(err, api.ReasonBadToken))
	_, err = b.CheckKey(token)
	is.True(errors.Is(err, api.ReasonBadToken))
	is.Equal(len(b.List(501)), 2)
	b.pass(time.Hour)
	_, err = b.CheckKey(key)
	is.True(errors.Is(err, api.ReasonExpiredToken))
	_, err = b.Revoke(501, "script")
	is.NoErr(err)
}
