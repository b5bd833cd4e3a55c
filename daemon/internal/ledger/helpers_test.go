package ledger

import (
	"cmp"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fulmen/daemon/api"
)

const (
	testCluster  = api.ClusterID("a7937b64b8caa58f03721bb6bacf5c78")
	otherCluster = api.ClusterID("00000000000000000000000000000001")
)

func testKey(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune('a'+n)), ed25519.SeedSize)))
}

func testNode(n byte) api.NodeID {
	return api.NodeIDFromKey(testKey(n).Public().(ed25519.PublicKey))
}

var errDisk = errors.New("no space left")

// memStore is a Store and a Counter in memory that can be made to fail. What it
// keeps went through JSON, as on a disk.
type memStore struct {
	mu      sync.Mutex
	docs    map[api.Key][]byte
	version api.Version
	saves   int
	full    bool
	sealed  bool // for documents alone
}

func newMemStore() *memStore { return &memStore{docs: map[api.Key][]byte{}} }

func (s *memStore) Load() ([]api.Document, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []api.Document
	for _, raw := range s.docs {
		var d api.Document
		if err := json.Unmarshal(raw, &d); err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

func (s *memStore) Save(put []api.Document, forget []api.Key) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full || s.sealed {
		return errDisk
	}
	s.saves++
	for _, d := range put {
		raw, err := json.Marshal(d)
		if err != nil {
			return err
		}
		s.docs[d.Key()] = raw
	}
	for _, k := range forget {
		delete(s.docs, k)
	}
	return nil
}

func (s *memStore) LoadVersion() (api.Version, error) { return s.version, nil }

func (s *memStore) SaveVersion(v api.Version) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full {
		return errDisk
	}
	s.version = v
	return nil
}

// roster is Members as a map.
type roster map[api.NodeID]ed25519.PrivateKey

func (r roster) PublicKey(n api.NodeID) (ed25519.PublicKey, bool) {
	key, ok := r[n]
	if !ok {
		return nil, false
	}
	return key.Public().(ed25519.PublicKey), true
}

func testRoster(members ...byte) roster {
	r := roster{}
	for _, n := range members {
		r[testNode(n)] = testKey(n)
	}
	return r
}

// wall is a clock moved by hand.
type wall struct {
	mu sync.Mutex
	t  time.Time
}

func newWall() *wall { return &wall{t: time.Date(2026, 11, 21, 11, 0, 0, 0, time.UTC)} }

func (w *wall) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.t
}

func (w *wall) step(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.t = w.t.Add(d)
}

// rig is node 1's ledger with everything around it.
type rig struct {
	*Ledger
	w     *Writer
	store *memStore
	clock *wall
	opts  Options
}

func newRig(t testing.TB, change ...func(*Options)) *rig {
	r := &rig{store: newMemStore(), clock: newWall()}
	r.opts = Options{Key: testKey(1), Cluster: testCluster, Counter: r.store, Store: r.store,
		Members: testRoster(1, 2, 3), Now: r.clock.now}
	for _, c := range change {
		c(&r.opts)
	}
	r.restart(t)
	return r
}

func (r *rig) restart(t testing.TB) {
	t.Helper()
	var err error
	if r.Ledger, r.w, err = Open(r.opts); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) key(kind api.Kind, name string) api.Key {
	return api.Key{Node: testNode(1), Kind: kind, Name: name}
}

// value is a raw value with a number in it.
func value(n int) json.RawMessage { return json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)) }

// signed is a document by another node, or by an earlier life of this one.
func signed(t testing.TB, by byte, d api.Document) api.Document {
	t.Helper()
	d.Node = testNode(by)
	if d.At.IsZero() {
		d.At = api.TimeOf(newWall().t)
	}
	if d.Value == nil && !d.Deleted {
		d.Value = value(0)
	}
	if err := d.Sign(testCluster, testKey(by)); err != nil {
		t.Fatal(err)
	}
	return d
}

// state is what a reader knows: the value of each key.
type state map[api.Key]string

func stateOf(all []*Record) state {
	s := state{}
	s.apply(Change{Put: all})
	return s
}

func (s state) apply(c Change) {
	for _, r := range c.Put {
		s[r.Key()] = fmt.Sprint(r.Version()) + string(r.doc.Value)
	}
	for _, k := range c.Del {
		delete(s, k)
	}
}

func (s state) equal(o state) bool { return maps.Equal(s, o) }

// names are the kinds and names of records, for short comparisons.
func names(all []*Record) []string {
	out := []string{}
	for _, r := range all {
		out = append(out, strings.TrimSuffix(string(r.Key().Kind)+" "+r.Key().Name, " "))
	}
	return out
}

// interests is everything that somebody watches, ordered by kind and node.
func interests(l *Ledger) []api.Key {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return slices.SortedFunc(maps.Keys(l.interest.counts), func(a, b api.Key) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Node, b.Node))
	})
}
