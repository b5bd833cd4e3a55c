package storage

import (
	"bytes"
	"crypto/ed25519"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/store"
	"fulmen/native/nativetest"
)

// TestWhatComesAgainIsWrittenLate: what somebody relies on is on disk at once, and
// takes with it what may wait; the rest comes a moment later.
func TestWhatComesAgainIsWrittenLate(t *testing.T) {
	is := is.New(t)
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), store.Options{Buckets: Buckets()})
	is.NoErr(err)
	clock := nativetest.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	self, other := api.NodeIDFromKey(make(ed25519.PublicKey, ed25519.PublicKeySize)), api.NodeIDFromKey(bytes.Repeat([]byte{1}, ed25519.PublicKeySize))
	b := NewBehind(Records{db}, self, clock, slog.New(slog.NewTextHandler(t.Output(), nil)))
	doc := func(node api.NodeID, kind api.Kind, seq uint64) api.Document {
		d := api.Document{Node: node, Kind: kind, Name: "j4k2m9xq7"}
		d.SetVersion(api.Version{Inc: 1, Seq: seq})
		return d
	}
	stored := func() map[api.Key]uint64 {
		t.Helper()
		all, err := b.Load()
		is.NoErr(err)
		found := map[api.Key]uint64{}
		for _, d := range all {
			found[d.Key()] = d.Version().Seq
		}
		return found
	}
	save := func(d api.Document) { t.Helper(); is.NoErr(b.Save([]api.Document{d}, nil)) }
	foreign, rank, grant, job := doc(other, api.KindJob, 1), doc(self, api.KindRank, 2), doc(self, api.KindGrant, 3), doc(self, api.KindJob, 4)

	for _, d := range []api.Document{foreign, rank, grant} {
		save(d)
	}
	is.Equal(len(stored()), 0)
	clock.Advance(behindFor)
	is.Equal(stored(), map[api.Key]uint64{foreign.Key(): 1, rank.Key(): 2, grant.Key(): 3})

	save(doc(other, api.KindJob, 5))
	save(doc(other, api.KindJob, 6))
	is.Equal(stored()[foreign.Key()], uint64(1))
	save(job) // at once, and with it what waits
	is.Equal(stored(), map[api.Key]uint64{foreign.Key(): 6, rank.Key(): 2, grant.Key(): 3, job.Key(): 4})

	save(doc(other, api.KindJob, 7))
	is.NoErr(b.Flush())
	is.Equal(stored()[foreign.Key()], uint64(7))
	save(doc(other, api.KindJob, 8))
	is.NoErr(b.Save(nil, []api.Key{foreign.Key()})) // a member that was removed stays removed
	clock.Advance(time.Minute)
	_, isThere := stored()[foreign.Key()]
	is.True(!isThere)

	// What cannot be written is tried again, and what is newer meanwhile wins.
	is.NoErr(db.Close())
	save(doc(self, api.KindRank, 9))
	save(foreign)
	clock.Advance(behindFor)
	is.True(b.Save([]api.Document{job}, nil) != nil)
	save(doc(self, api.KindRank, 10))
	b.DB, err = store.Open(t.Context(), db.Path(), store.Options{Buckets: Buckets()})
	is.NoErr(err)
	clock.Advance(behindAgain)
	is.Equal(stored(), map[api.Key]uint64{foreign.Key(): 1, rank.Key(): 10, grant.Key(): 3, job.Key(): 4})

	save(doc(self, api.KindRank, 11))
	is.NoErr(b.Close())
	is.Equal(stored()[rank.Key()], uint64(11))
	save(doc(self, api.KindRank, 12)) // nothing waits any more
	is.Equal(stored()[rank.Key()], uint64(12))
	is.NoErr(b.DB.Close())
}

// A document that comes while an older one is being written is not replaced by that where
// the writing fails.
func TestWhatIsNewerStays(t *testing.T) {
	is := is.New(t)
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), store.Options{Buckets: Buckets()})
	is.NoErr(err)
	defer db.Close()
	b := NewBehind(Records{db}, "", nativetest.NewClock(time.Time{}), slog.New(slog.DiscardHandler))
	save := func(seq uint64) {
		d := api.Document{Node: "other", Kind: api.KindJob, Name: strings.Repeat("x", 1<<16)} // a key too long for the database
		d.SetVersion(api.Version{Inc: 1, Seq: seq})
		is.NoErr(b.Save([]api.Document{d}, nil))
	}
	noted := func() (seqs []uint64) {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, d := range b.docs {
			seqs = append(seqs, d.Version().Seq)
		}
		return seqs
	}
	save(1)
	begun, goOn, written := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		_ = db.Update(func(*store.Transaction) error { // which keeps others waiting
			close(begun)
			<-goOn
			return nil
		})
	}()
	<-begun
	go func() { written <- b.Flush() }()
	for len(noted()) > 0 {
		runtime.Gosched()
	}
	save(2)
	close(goOn)
	is.True(<-written != nil)
	is.Equal(noted(), []uint64{2})
}
