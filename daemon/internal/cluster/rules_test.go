package cluster

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

// A set of steps is the numbers that were added, and those of the sets that joined it.
func TestSet(t *testing.T) {
	for seed := range testkit.Upto(t, 20) {
		r := seed.Source(1)
		var sets [2]set
		want := [2]map[int]bool{{}, {}}
		for range 40 {
			at, number := r.IntN(2), r.IntN(200)
			sets[at].add(&step{number: number})
			want[at][number] = true
			if r.IntN(10) == 0 {
				sets[at].join(&sets[1-at])
				for n := range want[1-at] {
					want[at][n] = true
				}
			}
			for i := range sets {
				for n := range 260 {
					if sets[i].has(&step{number: n}) != want[i][n] {
						t.Fatalf("seed %d: %d of %v", seed, n, want[i])
					}
				}
			}
		}
	}
}

// Who votes is who was a member at some heads, whatever came later.
func TestVotersOfThen(t *testing.T) {
	is := is.New(t)
	d := newScenario(t, 4)
	d.add(0, 1)
	d.add(0, 2)
	of := func(r *Roster) (heads []string) {
		for _, h := range r.Heads() {
			heads = append(heads, string(h))
		}
		return heads
	}
	sorted := func(all ...int) (nodes []api.NodeID) {
		for _, i := range all {
			nodes = append(nodes, d.ids[i].Node)
		}
		slices.Sort(nodes)
		return nodes
	}
	then := of(d.view[0])
	voters, known := d.view[0].VotersAt(then)
	is.True(known)
	is.Equal(voters, sorted(0, 1, 2))
	d.remove(0, 1)
	d.add(0, 3)
	voters, known = d.view[0].VotersAt(then)
	is.True(known)
	is.Equal(voters, sorted(0, 1, 2)) // who was removed since stays one, who came later is none
	voters, known = d.view[0].VotersAt(of(d.view[0]))
	is.True(known)
	is.Equal(voters, sorted(0, 2, 3))
	is.Equal(d.view[0].Current(), sorted(0, 2, 3))
	_, known = d.view[0].VotersAt([]string{then[0], "unknown"})
	is.True(!known)
	past, known := d.view[0].At(d.view[0].Heads())
	is.True(known)
	is.Equal(past.Head(), d.view[0].Head())

	// Of halves that have met again each alone, and both.
	d = newScenario(t, 4)
	d.add(0, 1)
	d.meet(0, 1)
	d.add(0, 2)
	d.add(1, 3)
	one, other := of(d.view[0]), of(d.view[1])
	d.meet(0, 1)
	for _, c := range []struct {
		heads []string
		want  []api.NodeID
	}{{one, sorted(0, 1, 2)}, {other, sorted(0, 1, 3)}, {append(one, other...), sorted(0, 1, 2, 3)}} {
		voters, known := d.view[0].VotersAt(c.heads)
		is.True(known)
		is.Equal(voters, c.want)
	}
	_, known = d.view[2].VotersAt(other)
	is.True(!known) // it has not heard of that half
	before := d.view[0].Head()
	d.view[2], d.view[3] = d.view[0], d.view[1]
	d.remove(2, 1)
	d.remove(3, 1)
	d.meet(0, 2, 3)
	is.Equal(len(d.view[0].Heads()), 2)
	is.True(before != d.view[0].Head()) // of two heads, too
}

// What an entry names that adds nobody is no member by it.
func TestOnlyAnAdditionMakesAMember(t *testing.T) {
	is := is.New(t)
	self, other := testIdentity(1), testIdentity(2).Node
	for _, kind := range []EntryType{EntryRemove, "of a later version"} {
		r := testRoster(t)
		e, err := SignEntry(Entry{Type: kind, After: r.Heads(), By: self.Node, At: api.TimeOf(testTime()), Node: other}, self)
		is.NoErr(err)
		r, fresh, err := r.Merge([]SignedEntry{e})
		is.NoErr(err)
		is.Equal(len(fresh), 1) // it is kept and passed on
		is.Equal(len(r.Members()), 1)
		is.True(!r.IsMember(other) && !r.IsRemoved(other))
	}
}

// Who signs in the name of another has not signed it.
func TestSignedInTheNameOfAnother(t *testing.T) {
	is := is.New(t)
	entry := testRoster(t).Log()[0]
	is.NoErr(entry.Verify(testIdentity(1).Public()))
	other := testIdentity(2)
	entry.Sig = ed25519.Sign(other.key, entrySigningBytes(entry.Raw))
	for _, key := range []ed25519.PublicKey{other.Public(), testIdentity(1).Public(), nil} {
		is.True(errors.Is(entry.Verify(key), api.ReasonBadSignature))
	}
	// An id can be made of what is no key, with which nothing can be verified.
	short := ed25519.PublicKey("short")
	raw, err := json.Marshal(Entry{Type: EntryRemove, After: []EntryHash{entry.Hash()}, By: api.NodeIDFromKey(short), At: api.TimeOf(testTime()), Node: testIdentity(1).Node})
	is.NoErr(err)
	is.True(errors.Is(SignedEntry{Raw: raw, Sig: entry.Sig}.Verify(short), api.ReasonBadSignature))
}

// A sample is the heads, and what thins out from the newest to the first entry.
func TestSampleThinsOut(t *testing.T) {
	is := is.New(t)
	r := testRoster(t)
	self := testIdentity(1)
	for i := range 29 {
		next, err := r.Add(self, testIdentity(byte(i+2)).Public(), testTime())
		is.NoErr(err)
		r = next
	}
	log := r.Log()
	var want []EntryHash
	for _, i := range []int{29, 29, 28, 26, 23, 19, 13, 5, 0} {
		want = append(want, log[i].Hash())
	}
	is.Equal(r.Sample(), want)
	is.Equal(len(r.Missing(r.Heads())), 0) // who has the last has all that it is after
	is.Equal(r.Missing([]EntryHash{"unknown", log[20].Hash()}), log[21:])
	is.Equal(r.Missing(nil), log)
	is.Equal(testRoster(t).Sample(), []EntryHash{testRoster(t).Head(), testRoster(t).Head()})
}

// Whoever removes itself among others does so last, the others in the order given.
func TestRemovalsInOrder(t *testing.T) {
	is := is.New(t)
	d := newScenario(t, 4)
	d.add(0, 1)
	d.add(0, 2)
	d.add(0, 3)
	before := len(d.view[0].Log())
	d.remove(0, 2, 0, 1)
	var got []int
	for _, s := range d.view[0].Log()[before:] {
		e, err := s.Entry()
		is.NoErr(err)
		got = append(got, slices.IndexFunc(d.ids, func(id Identity) bool { return id.Node == e.Node }))
	}
	is.Equal(got, []int{2, 1, 0})
	is.Equal(d.members(0), []int{3})
}

// The form of an entry, at the bounds of what is taken.
func TestEntriesToTheByte(t *testing.T) {
	one, two := testIdentity(1), testIdentity(2)
	entries := testEntries(t)
	found, err := entries[0].Entry()
	if err != nil {
		t.Fatal(err)
	}
	add, _ := entries[1].Entry()
	remove, _ := entries[2].Entry()
	for name, c := range map[string]struct {
		of     Entry
		change func(*Entry)
		isGood bool
	}{
		"a beginning":               {found, func(*Entry) {}, true},
		"a beginning for another":   {found, func(e *Entry) { e.Node, e.PublicKey = two.Node, two.Public() }, false},
		"a nonce of nothing":        {found, func(e *Entry) { e.Nonce = make([]byte, NonceSize) }, false},
		"a nonce almost of nothing": {found, func(e *Entry) { e.Nonce = append(make([]byte, NonceSize-1), 1) }, true},
		"a long nonce":              {found, func(e *Entry) { e.Nonce = append(e.Nonce, 1) }, false},
		"a beginning without a key": {found, func(e *Entry) { e.PublicKey = nil }, false},
		"an addition":               {add, func(*Entry) {}, true},
		"an addition with a nonce":  {add, func(e *Entry) { e.Nonce = testNonce() }, false},
		"an addition without a key": {add, func(e *Entry) { e.PublicKey = nil }, false},
		"an addition by nobody":     {add, func(e *Entry) { e.By = "nobody" }, false},
		"an addition of nobody":     {add, func(e *Entry) { e.Node = "nobody" }, false},
		"after two": {add, func(e *Entry) {
			e.After = []EntryHash{HashEntry([]byte("b")), HashEntry([]byte("a"))}
			slices.Sort(e.After)
		}, true},
		"after two out of order": {add, func(e *Entry) {
			e.After = []EntryHash{HashEntry([]byte("b")), HashEntry([]byte("a"))}
			slices.Sort(e.After)
			slices.Reverse(e.After)
		}, false},
		"after a long hash":               {add, func(e *Entry) { e.After = []EntryHash{e.After[0] + "00"} }, false},
		"after what is no hexadecimal":    {add, func(e *Entry) { e.After = []EntryHash{"x" + e.After[0][1:]} }, false},
		"a removal":                       {remove, func(*Entry) {}, true},
		"a removal with a nonce":          {remove, func(e *Entry) { e.Nonce = testNonce() }, false},
		"a removal with a key":            {remove, func(e *Entry) { e.PublicKey = two.Public() }, false},
		"another kind with what it likes": {remove, func(e *Entry) { e.Type, e.PublicKey, e.Nonce = "rename", two.Public(), testNonce() }, true},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			e := c.of
			c.change(&e)
			is.Equal(e.check() == nil, c.isGood)
			if e.By == one.Node {
				_, err := SignEntry(e, one)
				is.Equal(err == nil, c.isGood)
			}
		})
	}
	is := is.New(t)
	padded := func(n int) SignedEntry {
		raw := bytes.Replace(entries[2].Raw, []byte(`{"type"`), []byte(`{"next":"","type"`), 1)
		return SignedEntry{Raw: bytes.Replace(raw, []byte(`"next":""`), []byte(`"next":"`+strings.Repeat("x", n-len(raw))+`"`), 1)}
	}
	is.Equal(len(padded(MaxEntryBytes).Raw), MaxEntryBytes)
	_, err = padded(MaxEntryBytes).Entry()
	is.NoErr(err)
	_, err = padded(MaxEntryBytes + 1).Entry()
	is.True(err != nil)
	for _, raw := range []string{"", "[]", `{"after":1}`, "null"} {
		_, err = SignedEntry{Raw: json.RawMessage(raw)}.Entry()
		is.True(errors.Is(err, api.ReasonMalformedDocument))
	}
	is.NoErr(entries[1].Verify(one.Public()))
	for _, key := range []ed25519.PublicKey{nil, one.Public()[:31], two.Public()} {
		is.True(errors.Is(entries[1].Verify(key), api.ReasonBadSignature))
	}
}

// A full roster takes removals alone, and a roster full of these nothing.
func TestFullRoster(t *testing.T) {
	self, two := testIdentity(1), testIdentity(2)
	for _, c := range []struct {
		steps         int
		adds, removes bool
	}{{MaxEntries - 1, true, true}, {MaxEntries, false, true}, {2*MaxEntries - 1, false, true}, {2 * MaxEntries, false, false}} {
		is := is.New(t)
		r := testRoster(t)
		for _, e := range []Entry{{Type: EntryAdd, Node: two.Node, PublicKey: two.Public()}, {Type: EntryRemove, Node: self.Node}} {
			h := r.history.copied()
			e.After, e.By, e.At = h.heads(), self.Node, api.TimeOf(testTime())
			signed, err := SignEntry(e, self)
			is.NoErr(err)
			h.steps = slices.Repeat(h.steps, c.steps)
			err = h.add(signed)
			is.Equal(err == nil, map[EntryType]bool{EntryAdd: c.adds, EntryRemove: c.removes}[e.Type])
			is.True(err == nil || errors.Is(err, api.ReasonRosterConflict))
		}
	}
}

// Of several removals of one member the first in the order of all counts as who did it.
func TestWhoRemovedIt(t *testing.T) {
	is := is.New(t)
	d := newScenario(t, 4)
	d.add(0, 1)
	d.add(0, 2)
	d.add(0, 3)
	d.meet(0, 1, 2, 3)
	for _, by := range []int{0, 1, 2} {
		d.remove(by, 3)
	}
	d.meet(0, 1, 2)
	var first api.NodeID
	for _, s := range d.view[0].Log() {
		if e, err := s.Entry(); err == nil && e.Type == EntryRemove && first == "" {
			first = e.By
		}
	}
	for at := range 3 {
		members := d.view[at].Members()
		is.Equal(members[slices.IndexFunc(members, func(m api.Member) bool { return m.Node == d.ids[3].Node })].RemovedBy, first)
	}
}

// A key that its cluster has removed is set aside, and no key is no error.
func TestRetireIdentity(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	is.NoErr(RetireIdentity(dir))
	first, err := OpenIdentity(dir, thisMac, testTime())
	is.NoErr(err)
	is.NoErr(RetireIdentity(dir))
	_, err = os.Lstat(filepath.Join(dir, api.KeyFile+"."+first.Identity.Node.String()))
	is.NoErr(err)
	second, err := OpenIdentity(dir, thisMac, testTime())
	is.NoErr(err)
	is.True(second.Identity.Node != first.Identity.Node)
	path := filepath.Join(dir, api.KeyFile)
	is.NoErr(os.WriteFile(path, []byte("broken"), 0o600))
	is.True(errors.Is(RetireIdentity(dir), api.ReasonStateCorrupt))
	_, err = os.Lstat(path)
	is.NoErr(err) // and it stays
}

// What is wrong with a key file, each by itself.
func TestKeyFiles(t *testing.T) {
	sound := keyFile{Format: keyFormat, Seed: bytes.Repeat([]byte{1}, ed25519.SeedSize), CreatedAt: api.TimeOf(testTime())}
	sound.Node = sound.identity().Node
	for name, change := range map[string]func(*keyFile){
		"": func(*keyFile) {}, "its format is not " + keyFormat: func(f *keyFile) { f.Format = "" },
		"its seed has the wrong length":                    func(f *keyFile) { f.Seed = f.Seed[1:] },
		"its seed does not make the node id that it names": func(f *keyFile) { f.Node = testIdentity(2).Node },
		"it does not say when it was made":                 func(f *keyFile) { f.CreatedAt = api.Time{} },
	} {
		is := is.New(t)
		f := sound
		change(&f)
		raw, err := f.encode()
		is.NoErr(err)
		_, err = decodeKeyFile(raw)
		is.Equal(err == nil, name == "")
		if err != nil {
			is.Equal(err.Error(), name)
			continue
		}
		_, err = decodeKeyFile(append(raw, ' '))
		is.Equal(err.Error(), "it was not written by Fulmen")
	}
	for of, want := range map[string]string{"": "", "2D9C": "", "dmi:1": "dmi", ":1": "", "a:b:c": "a"} {
		is.New(t).Equal(sourceOf(of), want)
	}
}

// Which letters have a place in a short name.
func TestSpelling(t *testing.T) {
	is := is.New(t)
	for c, want := range map[rune]string{'a': "a", 'z': "z", '0': "0", '9': "9", '`': "", '{': "", '/': "", ':': "", 'à': "a", 'þ': "th", 'ź': "z",
		'\u007f': "", '\u0080': "", '\u024f': "", '\u0250': "", '÷': "", 'ß': "ss", 'Ж': ""} {
		is.Equal(spell(c), want)
	}
	is.Equal(ShortName("", "ab"), "mac-ab")
	is.Equal(ShortName("a_b", "abcdef"), "a-b")
	is.Equal(ShortName("_a", "abcdef"), "a")
	is.Equal(ShortName(strings.Repeat("x", MaxShortName+1), "abcdef"), strings.Repeat("x", MaxShortName))
	is.Equal(ShortName(strings.Repeat("x", MaxShortName), "abcdef"), strings.Repeat("x", MaxShortName))
	long := strings.Repeat("a", MaxShortName-3) + "-bc"
	is.Equal(UniqueName(long, func(s string) bool { return s == long }), strings.Repeat("a", MaxShortName-3)+"-2")
	n := 0
	is.Equal(UniqueName("mac", func(string) bool { n++; return n < 12 }), "mac-12")
}

// A store that fails is told, and nothing is begun or replaced.
func TestRosterNeedsItsStore(t *testing.T) {
	is := is.New(t)
	store := &memRosters{all: map[api.ClusterID]json.RawMessage{}, err: errors.New("no space left")}
	r, err := OpenRoster(store, testIdentity(1), testTime())
	is.True(errors.Is(err, store.err))
	is.True(r == nil)
	store.err = nil
	refusing := refusingRosters{store}
	_, err = OpenRoster(refusing, testIdentity(1), testTime())
	is.True(errors.Is(err, errRefused))
	is.Equal(len(store.all), 0)
	two := testRosterOf(t, 2)
	merged, fresh, err := testRoster(t).Merge(two.Log())
	is.True(errors.Is(err, api.ReasonMalformedDocument)) // another cluster
	is.Equal(len(fresh), 0)
	is.Equal(merged.Head(), testRoster(t).Head())
}

var errRefused = errors.New("not saved")

// refusingRosters saves nothing.
type refusingRosters struct{ *memRosters }

func (refusingRosters) SaveRoster(api.ClusterID, json.RawMessage) error { return errRefused }
