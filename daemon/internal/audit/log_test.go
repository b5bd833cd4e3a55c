package audit

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest"
)

// memory is a Store in memory.
type memory struct {
	records map[string][]byte
	writes  int
	fails   error
	enter   func() // called in SaveAudit
}

func (m *memory) LoadAudit(f func(key string, raw []byte)) error {
	for _, key := range slices.Sorted(maps.Keys(m.records)) {
		f(key, m.records[key])
	}
	return nil
}

func (m *memory) SaveAudit(put map[string][]byte, forget []string) error {
	if m.enter != nil {
		m.enter()
	}
	if m.fails != nil {
		return m.fails
	}
	m.writes++
	for _, key := range forget {
		delete(m.records, key)
	}
	maps.Copy(m.records, put)
	return nil
}

// rig is a Log with its clock and store.
type rig struct {
	*testing.T
	clock *nativetest.Clock
	store *memory
	*Log
}

func newRig(t *testing.T) *rig {
	r := &rig{T: t, clock: nativetest.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)), store: &memory{records: map[string][]byte{}}}
	r.open()
	return r
}

// open is a start of the daemon.
func (r *rig) open() {
	r.Helper()
	var err error
	r.Log, err = Open(Config{Clock: r.clock, Store: r.store, Log: slog.New(slog.NewTextHandler(r.Output(), nil))})
	if err != nil {
		r.Fatal(err)
	}
}

func everybody(Entry) bool { return true }

// entries are all that are kept, page by page.
func (r *rig) entries() []api.AuditEntry {
	var all []api.AuditEntry
	p := api.EventAuditParams{}
	for {
		page := r.List(p, everybody)
		all = append(page.Entries, all...)
		if !page.More {
			return all
		}
		p.Before = page.Entries[0].Seq
	}
}

// lines are the entries as what, subject, why and count.
func (r *rig) lines() []string {
	var all []string
	for _, e := range r.entries() {
		all = append(all, fmt.Sprintf("%s %s %s %d", e.What, e.Subject, e.Why, e.Count))
	}
	return all
}

func node(n byte) api.NodeID {
	return api.NodeIDFromKey(bytes.Repeat([]byte{n}, ed25519.PublicKeySize))
}

func renewal(of byte) Entry {
	return Entry{Node: node(of), What: "peer.renew", Subject: "j4k2m9xq7/1", Why: api.AuditHome}
}

func refusal(of byte, subject string) Entry {
	return Entry{Node: node(of), What: "output", Subject: subject, Why: api.AuditRefused, Reason: api.ReasonNotYourJob}
}

// Calls that are the same are one entry for as long as they follow each other.
func TestRepeats(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	began := api.TimeOf(r.clock.Now())
	for range 100 { // a lease of 100 renewals, longer than a minute in all
		r.Record(renewal(1))
		r.clock.Advance(5 * time.Second)
	}
	is.Equal(r.lines(), []string{"peer.renew j4k2m9xq7/1 home 100"})
	one := r.entries()[0]
	is.Equal(one.First, began)
	is.Equal(one.Last.Sub(one.First.Time), 99*5*time.Second)

	r.clock.Advance(api.AuditRepeat)
	r.Record(renewal(1)) // 65 s after the last
	is.Equal(len(r.entries()), 2)

	for _, change := range []func(*Entry){
		func(e *Entry) { e.Node = node(2) },
		func(e *Entry) { e.By = api.Principal{User: "ada", Node: node(1)} },
		func(e *Entry) { e.Of = api.Principal{User: "ada", Node: node(1)} },
		func(e *Entry) { e.Account = "guest" },
		func(e *Entry) { e.What = "peer.end" },
		func(e *Entry) { e.Subject = "j4k2m9xq7/2" },
		func(e *Entry) { e.Why = api.AuditMember },
		func(e *Entry) { e.Reason = api.ReasonStaleEpoch },
	} {
		before := len(r.entries())
		other := renewal(1)
		change(&other)
		r.Record(other)
		r.Record(renewal(1)) // what comes between does not end an entry
		r.Record(other)
		is.Equal(len(r.entries()), before+1)
	}
}

// A wall clock that was set back neither ends the record nor makes an entry that
// ends before it began.
func TestClockSetBack(t *testing.T) {
	is := is.New(t)
	b := newBook(10, 10)
	at := api.TimeOf(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	b.add(renewal(1), at)
	e, _ := b.add(renewal(1), api.TimeOf(at.Add(-30*time.Second)))
	is.Equal(e.Count, uint64(2))
	is.Equal(e.Last, at)
	e, _ = b.add(renewal(1), api.TimeOf(at.Add(-time.Hour)))
	is.Equal(e.Count, uint64(1))
}

func TestRestart(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	r.Record(renewal(1))
	r.Record(refusal(2, "j4k2m9xq7/1/0"))
	before := r.entries()
	is.Equal(len(r.store.records), 0)
	is.NoErr(r.Close())

	r.store.records["0000000000000003"] = []byte(`{"seq":3,"what":`)
	r.store.records["0000000000000004"] = []byte(`{"seq":5,"what":"peer.end","why":"home","first":"2026-11-21T12:00:00.000Z","last":"2026-11-21T12:00:00.000Z","count":1}`)
	r.open()
	is.Equal(r.entries(), before)
	r.Record(renewal(1)) // goes on where it was
	is.Equal(r.lines(), []string{"peer.renew j4k2m9xq7/1 home 2", "output j4k2m9xq7/1/0 refused 1"})
	r.Record(renewal(3))
	is.Equal(r.entries()[2].Seq, uint64(3))
	is.NoErr(r.Flush())
	is.Equal(len(r.store.records), 3) // the damaged ones are gone
	kept := r.entries()
	r.open()
	is.Equal(r.entries(), kept)
}

// An entry is kept for 30 days after its last call, and then neither shown nor stored.
func TestExpiry(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	r.Record(refusal(1, "j00000001"))
	r.Record(renewal(2))
	r.clock.Advance(api.AuditTTL / 2)
	r.Record(refusal(1, "j00000002"))
	r.clock.Advance(api.AuditTTL / 2) // to the moment
	is.Equal(len(r.entries()), 3)
	r.clock.Advance(time.Second)
	is.Equal(r.lines(), []string{"output j00000002 refused 1"})
	r.clock.Advance(writeNew)
	is.Equal(slices.Collect(maps.Keys(r.store.records)), []string{"0000000000000003"})

	r.clock.Advance(api.AuditTTL)
	r.Record(renewal(2)) // nobody has to read for it
	r.clock.Advance(writeNew)
	is.Equal(slices.Collect(maps.Keys(r.store.records)), []string{"0000000000000004"})

	is.NoErr(r.Close())
	r.clock.Advance(api.AuditTTL + time.Hour)
	r.open()
	r.clock.Advance(writeNew)
	is.Equal(len(r.store.records), 0)
}

// Nobody waits for the disk, and it is not asked for each call.
func TestWritesTogether(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	for i := range 100 {
		r.Record(refusal(1, fmt.Sprint(i)))
	}
	is.Equal(r.store.writes, 0)
	r.clock.Advance(writeNew)
	is.Equal(r.store.writes, 1)
	is.Equal(len(r.store.records), 100)

	r.Record(renewal(1))
	r.clock.Advance(writeNew)
	r.store.writes = 0
	for range time.Hour / (5 * time.Second) {
		r.Record(renewal(1))
		r.clock.Advance(5 * time.Second)
	}
	is.True(r.store.writes <= 60)
	is.True(r.store.writes > 50)

	r.Record(renewal(2)) // while a write is under way
	entered, leave := make(chan struct{}), make(chan struct{})
	r.store.enter = func() { close(entered); <-leave }
	done := make(chan struct{})
	go func() { defer close(done); r.clock.Advance(writeNew) }()
	<-entered
	r.Record(renewal(3))
	is.Equal(len(r.entries()), 103)
	close(leave)
	<-done
}

// What cannot be written is tried again, as it is by then.
func TestDiskFails(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	r.book = newBook(api.AuditKept, 2)
	r.store.fails = errors.New("no space")
	r.Record(renewal(1))
	r.Record(refusal(2, "a"))
	r.clock.Advance(writeNew)
	r.Record(renewal(1))
	r.Record(refusal(2, "b"))
	r.Record(refusal(2, "c")) // drops a, which was never written
	is.True(r.pending[keyOf(2)] == nil)
	r.store.fails = nil
	r.clock.Advance(writeAgain)
	is.Equal(len(r.store.records), 3)
	kept := r.entries()
	r.open()
	is.Equal(r.entries(), kept)

	r.book.mostPerCaller = 1
	r.Record(refusal(2, "d")) // drops one that is
	r.store.fails = errors.New("no space")
	r.clock.Advance(writeNew)
	r.store.fails = nil
	r.clock.Advance(writeAgain)
	is.Equal(len(r.store.records), len(r.entries()))
}

// What is dropped while it is written is deleted by the next write.
func TestDroppedMeanwhile(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	r.book.mostPerCaller = 1
	r.Record(refusal(1, "a"))
	r.store.enter = func() {
		r.store.enter = nil
		r.Record(refusal(1, "b"))
	}
	r.clock.Advance(writeNew)
	r.clock.Advance(writeNew)
	is.Equal(slices.Collect(maps.Keys(r.store.records)), []string{keyOf(2)})
	is.Equal(len(r.pending), 0)
}

func TestPages(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	const more = 20
	for i := range api.AuditPage + more {
		r.Record(refusal(1, fmt.Sprint(i)))
		r.clock.Advance(time.Second)
	}
	is.Equal(len(r.entries()), api.AuditPage+more)
	page := r.List(api.EventAuditParams{}, everybody)
	is.Equal(len(page.Entries), api.AuditPage)
	is.Equal(page.Entries[0].Subject, fmt.Sprint(more))
	is.True(page.More)
	since := r.List(api.EventAuditParams{Since: api.TimeOf(r.clock.Now().Add(-3 * time.Second))}, everybody)
	is.Equal(len(since.Entries), 3)
	is.True(!since.More)
	none := r.List(api.EventAuditParams{}, func(Entry) bool { return false })
	is.True(none.Entries != nil && len(none.Entries) == 0 && !none.More)
}

// What a caller sends is bounded, and can be written and read again. A page of it
// fits an answer.
func TestHostileText(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	hostile := strings.Repeat("\x1b[2J\u202e<&\xff\"\\", 1000)
	r.Record(Entry{Node: api.NodeID(hostile), By: api.Principal{User: hostile, Node: node(1)}, Of: api.Principal{User: "ada"},
		Account: hostile, What: hostile, Subject: hostile, Why: api.AuditWhy(hostile), Reason: api.Reason(hostile)})
	is.NoErr(r.Flush())
	e := r.entries()[0]
	is.Equal(e.What, api.AuditUnknown)
	is.Equal(e.Node, api.NodeID(""))
	is.True(!e.By.Valid() && !e.Of.Valid())
	is.True(len(e.Subject) <= maxText)
	raw := r.store.records[keyOf(1)]
	is.True(len(raw)*api.AuditPage < api.MaxMessageBytes)
	is.True(!strings.ContainsAny(string(raw), "\x1b\u202e<"))
	r.open()
	is.Equal(r.entries(), []api.AuditEntry{e})
	is.Equal(len(plain(strings.Repeat("x", 2*maxText))), maxText)
}
