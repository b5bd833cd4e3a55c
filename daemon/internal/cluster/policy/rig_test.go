package policy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

var update = flag.Bool("update", false, "write the golden files again")

const (
	studio  api.NodeID    = "j79r4zr55xd4ph64"
	book    api.NodeID    = "cpv0cwypxp44qw0p"
	mini    api.NodeID    = "z96rdgxna6n6snyk"
	home    api.ClusterID = "1627a5fa4a54af2e098cf3ca6dfb55b5"
	another api.ClusterID = "ffffa5fa4a54af2e098cf3ca6dfb55b5"
)

func person(user string, node api.NodeID) api.Principal {
	return api.Principal{User: user, Node: node}
}

// records is a store in memory, and what of it is published.
type records struct {
	raw       json.RawMessage
	docs      []api.Sharing
	full      bool
	published []byte // all that ever was, for what must not be in it
}

func (r *records) LoadPolicy() (json.RawMessage, error) { return r.raw, nil }

func (r *records) SavePolicy(raw json.RawMessage) error {
	if r.full {
		return errors.New("the disk is full")
	}
	r.raw = raw
	return nil
}

func (r *records) Delete(api.Kind, string) error { return nil } // nothing is

func (r *records) Put(kind api.Kind, name string, value any, unknown map[string]api.Reason) error {
	doc := api.Document{Node: studio, Kind: kind, Name: name, Inc: 1, Seq: 1, Unknown: unknown}
	if err := doc.SetValue(value); err != nil {
		return err
	}
	r.published = append(r.published, doc.Value...)
	var s api.Sharing
	if err := doc.Decode(&s); err != nil {
		return err
	}
	r.docs = append(r.docs, s)
	return nil
}

func (r *records) last() api.Sharing { return r.docs[len(r.docs)-1] }

// people are the accounts of a Mac.
type people map[string]uint32

func (p people) Lookup(name string) (Account, bool, error) {
	if name == "broken" {
		return Account{}, false, errors.New("the directory does not answer")
	}
	uid, found := p[name]
	return Account{Name: name, UID: uid}, found, nil
}

// awake counts who keeps the Mac awake.
type awake struct {
	holds int
	err   error
}

func (a *awake) hold(context.Context, string) (func() error, error) {
	if a.err != nil {
		return nil, a.err
	}
	a.holds++
	return func() error { a.holds--; return nil }, nil
}

// rig is a studio's policy with its surroundings.
type rig struct {
	*Policy
	*records
	people  people
	members map[api.NodeID]bool
	awake   *awake
}

func newRig() *rig {
	return &rig{
		records: &records{}, awake: &awake{}, members: map[api.NodeID]bool{studio: true, book: true},
		people: people{"anna": 501, "bob": 502, "jobs": 600, "root": 0, "toor": 0, "_www": 70, "nobody": 1<<32 - 2},
	}
}

func (r *rig) options() Options {
	return Options{
		Node: studio, Cluster: home, IsMember: func(n api.NodeID) bool { return r.members[n] }, Store: r.records, Documents: r.records,
		Accounts: r.people, Bounds: Bounds{First: 500}, KeepAwake: r.awake.hold, Log: slog.New(slog.DiscardHandler),
	}
}

func openRig(t *testing.T) *rig {
	t.Helper()
	r := newRig()
	r.open(t, r.options())
	return r
}

func (r *rig) open(t *testing.T, o Options) {
	t.Helper()
	var err error
	if r.Policy, err = Open(o); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) mustMap(t *testing.T, all ...api.ClusterMapUserParams) {
	t.Helper()
	for _, p := range all {
		if err := r.MapUser(p); err != nil {
			t.Fatal(err)
		}
	}
}

func golden(t *testing.T, name string, v any) {
	t.Helper()
	is := is.New(t)
	got, err := json.MarshalIndent(v, "", "  ")
	is.NoErr(err)
	got = append(got, '\n')
	path := filepath.Join("testdata", name)
	if *update {
		is.NoErr(os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	is.NoErr(err)
	is.True(bytes.Equal(got, want)) // run with -update and look at what changed
}

func reasonOf(err error) api.Reason {
	if err == nil {
		return ""
	}
	return api.AsError(err).Data.Reason
}
