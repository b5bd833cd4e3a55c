package cluster

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

var update = flag.Bool("update", false, "write the golden files anew")

func testIdentity(n byte) Identity {
	return NewIdentity(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize)))
}

func testNonce() []byte { return []byte("0123456789abcdef") }

func testRoster(t testing.TB) *Roster {
	r, err := foundRoster(testIdentity(1), testTime(), testNonce())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// testRosterOf is a cluster of its own.
func testRosterOf(t testing.TB, n byte) *Roster {
	r, err := foundRoster(testIdentity(n), testTime(), testNonce())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// byNonMember is an entry whose signer nobody added.
func byNonMember(t testing.TB, after EntryHash) SignedEntry {
	two, three := testIdentity(2), testIdentity(3)
	s, err := SignEntry(Entry{Type: EntryAdd, After: []EntryHash{after}, By: two.Node, At: api.TimeOf(testTime()),
		Node: three.Node, PublicKey: three.Public()}, two)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// testEntries is one entry of each type, each after the one before.
func testEntries(t testing.TB) []SignedEntry {
	log := testRoster(t).Log()
	one, two := testIdentity(1), testIdentity(2)
	for _, e := range []Entry{
		{Type: EntryAdd, Node: two.Node, PublicKey: two.Public()},
		{Type: EntryRemove, Node: two.Node},
	} {
		e.By, e.At, e.After = one.Node, api.TimeOf(testTime()), []EntryHash{log[len(log)-1].Hash()}
		s, err := SignEntry(e, one)
		if err != nil {
			t.Fatal(err)
		}
		log = append(log, s)
	}
	return log
}

// What is on disk and on the wire never changes its form.
func TestGolden(t *testing.T) {
	is := is.New(t)
	key := keyFile{Format: keyFormat, Seed: bytes.Repeat([]byte{1}, ed25519.SeedSize), HardwareID: thisMac, CreatedAt: api.TimeOf(testTime())}
	key.Node = key.identity().Node
	keyText, err := key.encode()
	is.NoErr(err)
	entries, err := json.Marshal(testEntries(t))
	is.NoErr(err)
	var indented bytes.Buffer
	is.NoErr(json.Indent(&indented, entries, "", "  "))
	indented.WriteByte('\n')
	for name, text := range map[string][]byte{"identity.key.json": keyText, "entries.json": indented.Bytes()} {
		path := filepath.Join("testdata", "golden", name)
		if *update {
			is.NoErr(os.WriteFile(path, text, 0o644))
		}
		golden, err := os.ReadFile(path)
		is.NoErr(err)
		is.Equal(string(golden), string(text))
	}
	var log []SignedEntry
	var wire bytes.Buffer
	is.NoErr(json.Compact(&wire, indented.Bytes()))
	is.NoErr(json.Unmarshal(wire.Bytes(), &log))
	for _, s := range log {
		is.NoErr(s.Verify(testIdentity(1).Public()))
	}
}

func TestRosterOfOne(t *testing.T) {
	is := is.New(t)
	self := testIdentity(1)
	r := testRoster(t)
	is.Equal(r.Cluster(), api.ClusterID(r.Head()[:api.ClusterIDLength])) // half of the first entry's hash
	key, ok := r.PublicKey(self.Node)
	is.True(ok)
	is.Equal(key, self.Public())
	_, ok = r.PublicKey(testIdentity(2).Node)
	is.True(!ok)
	is.Equal(r.Members(), []api.Member{{Node: self.Node, AddedBy: self.Node, AddedAt: api.TimeOf(testTime())}})
	raw, err := json.Marshal(r)
	is.NoErr(err)
	var back Roster
	is.NoErr(json.Unmarshal(raw, &back))
	is.Equal(back.Cluster(), r.Cluster())
	anew, err := FoundRoster(self, testTime())
	is.NoErr(err)
	is.True(anew.Cluster() != r.Cluster()) // the same node at the same time begins another cluster
}

func TestReadRosterRefuses(t *testing.T) {
	entries := testEntries(t)
	for _, tt := range []struct {
		name string
		log  []SignedEntry
		want error
	}{
		{"nothing", nil, api.ReasonMalformedDocument},
		{"no beginning", entries[1:2], api.ReasonMalformedDocument},
		{"a signature of other bytes", []SignedEntry{{Raw: entries[0].Raw, Sig: entries[1].Sig}}, api.ReasonBadSignature},
		{"no signature", []SignedEntry{{Raw: entries[0].Raw}}, api.ReasonBadSignature},
		{"changed on the way", []SignedEntry{{Raw: bytes.Replace(entries[0].Raw, []byte("2026"), []byte("2027"), 1), Sig: entries[0].Sig}}, api.ReasonBadSignature},
		{"a gap", []SignedEntry{entries[0], entries[2]}, ErrGap},
		{"another beginning in it", append(entries[:1:1], testRosterOf(t, 3).Log()...), api.ReasonMalformedDocument},
		{"an entry by a stranger", append(entries[:1:1], byNonMember(t, entries[0].Hash())), api.ReasonNotAMember},
	} {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			_, err := ReadRoster(tt.log)
			is.True(errors.Is(err, tt.want))
		})
	}
}

func TestEntryForm(t *testing.T) {
	entries := testEntries(t)
	hash := string(entries[0].Hash())
	base := []string{string(entries[0].Raw), string(entries[1].Raw), string(entries[2].Raw)}
	for _, tt := range []struct {
		name     string
		of       int
		from, to string
		isGood   bool
	}{
		{"as it is", 0, "", "", true},
		{"an unknown field", 1, `{"type"`, `{"next":[1],"type"`, true},
		{"an unknown type", 2, `"remove"`, `"rename"`, true},
		{"no type", 1, `"add"`, `""`, false},
		{"a first one that is after something", 0, `"after":[]`, `"after":["` + hash + `"]`, false},
		{"a later one that is after nothing", 1, `"after":["` + hash + `"]`, `"after":[]`, false},
		{"after the same twice", 1, `["` + hash + `"]`, `["` + hash + `","` + hash + `"]`, false},
		{"after no hash", 1, hash, strings.ToUpper(hash), false},
		{"after a short hash", 1, hash, hash[:62], false},
		{"no nonce", 0, `,"nonce":"MDEyMzQ1Njc4OWFiY2RlZg=="`, ``, false},
		{"a key of another node", 1, string(testIdentity(2).Node), string(testIdentity(3).Node), false},
		{"a removal with a key", 2, `"remove"`, `"remove","public_key":"AAAA"`, false},
		{"no time", 1, `"2026-11-21T11:00:00.123Z"`, `"0001-01-01T00:00:00.000Z"`, false},
		{"spaces", 1, `{"type"`, `{ "type"`, false},
		{"no object", 1, base[1], `[]`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			raw := strings.Replace(base[tt.of], tt.from, tt.to, 1)
			is.True(tt.from == tt.to || raw != base[tt.of]) // the row changes something
			_, err := SignedEntry{Raw: json.RawMessage(raw)}.Entry()
			is.Equal(err == nil, tt.isGood)
		})
	}
	is := is.New(t)
	_, err := SignedEntry{Raw: json.RawMessage(`{"type":"` + strings.Repeat("x", MaxEntryBytes) + `"}`)}.Entry()
	is.True(err != nil)
	_, err = SignEntry(Entry{By: testIdentity(2).Node}, testIdentity(1))
	is.True(errors.Is(err, api.ReasonNotTheWriter))
}

// memRosters is a RosterStore in memory.
type memRosters struct {
	last json.RawMessage
	all  map[api.ClusterID]json.RawMessage
	err  error
}

func (m *memRosters) LoadRoster() (json.RawMessage, error) { return m.last, m.err }

func (m *memRosters) SaveRoster(c api.ClusterID, raw json.RawMessage) error {
	m.last, m.all[c] = raw, raw
	return m.err
}

func TestOpenRoster(t *testing.T) {
	is := is.New(t)
	store := &memRosters{all: map[api.ClusterID]json.RawMessage{}}
	first, err := OpenRoster(store, testIdentity(1), testTime())
	is.NoErr(err)
	again, err := OpenRoster(store, testIdentity(1), testTime())
	is.NoErr(err)
	is.Equal(again.Cluster(), first.Cluster())

	other, err := OpenRoster(store, testIdentity(2), testTime()) // another key is no member
	is.NoErr(err)
	is.True(other.Cluster() != first.Cluster())
	_, isMember := other.PublicKey(testIdentity(2).Node)
	is.True(isMember)
	is.Equal(len(store.all), 2) // nothing is lost

	good := store.last
	store.last = good[:len(good)/2]
	_, err = OpenRoster(store, testIdentity(2), testTime())
	is.True(err != nil)
	is.Equal(len(store.last), len(good)/2) // and not written over
	store.err = errors.New("no space left")
	_, err = OpenRoster(store, testIdentity(2), testTime())
	is.True(errors.Is(err, store.err))
}
