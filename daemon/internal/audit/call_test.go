package audit

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
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
		entry Entry
		want  bool
	}{
		{"a job as their account", Entry{Node: other, By: ada, Of: ada, Account: "guest", What: "peer.start", Why: api.AuditHome}, true},
		{"their job, stopped from elsewhere", Entry{Node: other, By: ada, Of: guest, What: "peer.job", Why: api.AuditMappedAccount}, true},
		{"what they did", Entry{By: guest, Of: ada, What: "job.stop", Why: api.AuditAdmin}, true},
		{"a job as another account", Entry{Node: other, By: ada, Of: ada, Account: "ada", What: "peer.start", Why: api.AuditHome}, false},
		{"somebody of their name elsewhere", Entry{Node: other, By: namesake, Of: namesake, Account: "ada", What: "peer.start", Why: api.AuditHome}, false},
		{"a change of this Mac", Entry{By: api.Principal{User: "root", Node: self}, What: "cluster.set_sharing", Why: api.AuditAdmin}, false},
		{"a node's call", Entry{Node: other, What: "peer.rdma", Why: api.AuditCableEnd}, false},
	} {
		t.Run(test.what, func(t *testing.T) { is.New(t).Equal(Concerns(test.entry, guest), test.want) })
	}
}
