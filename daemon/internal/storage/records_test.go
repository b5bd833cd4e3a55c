package storage

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/audit"
	"fulmen/daemon/internal/store"
	"fulmen/native/nativetest"
)

// The audit is in the database, and there again after a restart.
func TestAuditIsStored(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "state.db")
	clock := nativetest.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	open := func() (*store.Store, *audit.Log) {
		db, err := store.Open(t.Context(), path, store.Options{Buckets: Buckets()})
		is.NoErr(err)
		log, err := audit.Open(audit.Config{Clock: clock, Store: Records{db}, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
		is.NoErr(err)
		return db, log
	}
	all := func(log *audit.Log) []api.AuditEntry {
		return log.List(api.EventAuditParams{}, func(audit.Entry) bool { return true }).Entries
	}
	db, log := open()
	log.Record(audit.Entry{What: "cluster.pair", Why: api.AuditAdmin})
	log.Record(audit.Entry{What: "job.stop", Subject: "j4k2m9xq7", Why: api.AuditRefused, Reason: api.ReasonNotYourJob})
	before := all(log)
	is.Equal(len(before), 2)
	is.NoErr(log.Close())
	is.NoErr(db.Put(bucketAudit, "0000000000000009", []byte("no JSON")))
	is.NoErr(db.Close())

	db, log = open()
	is.Equal(all(log), before)
	clock.Advance(api.AuditTTL + time.Second)
	is.Equal(len(all(log)), 0)
	is.NoErr(log.Close())
	left := 0
	is.NoErr(db.ForEach(bucketAudit, "", func(string, []byte) error { left++; return nil }))
	is.Equal(left, 0)
	is.NoErr(db.Close())
}
