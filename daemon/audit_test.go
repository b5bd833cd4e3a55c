package daemon

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/audit"
	"fulmen/daemon/internal/store"
	"fulmen/native/nativetest"
)

// The record says what a call is about, and never a value that may be secret.
func TestAuditSubject(t *testing.T) {
	for params, want := range map[string]string{
		``:    "",
		`[1]`: "",
		`{}`:  "",
		`{"job":"j4k2m9xq7","data":"c2VjcmV0","offset_bytes":0}`:                "j4k2m9xq7",
		`{"links":["a:1","b:2"],"dry_run":true}`:                                "a:1,b:2",
		`{"all_ready":true}`:                                                    "all_ready",
		`{"nodes":["mini"]}`:                                                    "mini",
		`{"node":"cpv0cwypxp44qw0p","code":"secret","state":"x"}`:               "cpv0cwypxp44qw0p",
		`{"invite":"secret","account":"secret"}`:                                "account,invite",
		`{"address":"secret","code":"secret"}`:                                  "address,code",
		`{"principal":"ada@cpv0cwypxp44qw0p","account":"guest"}`:                "ada@cpv0cwypxp44qw0p",
		`{"jobs":"mapped","memory_max_bytes":7}`:                                "jobs,memory_max_bytes",
		`{"set":{"log.level":"secret","times.lease":"30s"},"unset":["secret"]}`: "log.level,times.lease",
		`{"job":7}`: "job",
	} {
		is := is.New(t)
		decoded := map[string]json.RawMessage{}
		_ = json.Unmarshal([]byte(params), &decoded)
		got := subjectOf(decoded)
		is.Equal(got, want)
		is.True(!strings.Contains(got, "secret"))
	}
}

func TestAuditConcerns(t *testing.T) {
	self := api.NodeIDFromKey(make(ed25519.PublicKey, ed25519.PublicKeySize))
	other := api.NodeIDFromKey(bytes.Repeat([]byte{1}, ed25519.PublicKeySize))
	guest, ada, namesake := api.Principal{User: "guest", Node: self}, api.Principal{User: "ada", Node: other}, api.Principal{User: "guest", Node: other}
	for _, test := range []struct {
		what  string
		entry audit.Entry
		want  bool
	}{
		{"a job as their account", audit.Entry{Node: other, By: ada, Of: ada, Account: "guest", What: "peer.start", Why: api.AuditHome}, true},
		{"their job, stopped from elsewhere", audit.Entry{Node: other, By: ada, Of: guest, What: "peer.job", Why: api.AuditMappedAccount}, true},
		{"what they did", audit.Entry{By: guest, Of: ada, What: "job.stop", Why: api.AuditAdmin}, true},
		{"a job as another account", audit.Entry{Node: other, By: ada, Of: ada, Account: "ada", What: "peer.start", Why: api.AuditHome}, false},
		{"somebody of their name elsewhere", audit.Entry{Node: other, By: namesake, Of: namesake, Account: "ada", What: "peer.start", Why: api.AuditHome}, false},
		{"a change of this Mac", audit.Entry{By: api.Principal{User: "root", Node: self}, What: "cluster.set_sharing", Why: api.AuditAdmin}, false},
		{"a node's call", audit.Entry{Node: other, What: "peer.rdma", Why: api.AuditCableEnd}, false},
	} {
		t.Run(test.what, func(t *testing.T) { is.New(t).Equal(concerns(test.entry, guest), test.want) })
	}
}

// The audit is in the database, and there again after a restart.
func TestAuditIsStored(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "state.db")
	clock := nativetest.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	open := func() (*store.Store, *audit.Log) {
		db, err := store.Open(t.Context(), path, store.Options{Buckets: buckets()})
		is.NoErr(err)
		log, err := audit.Open(audit.Config{Clock: clock, Store: storage{db}, Log: (&logs{out: t.Output()}).part("audit")})
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
