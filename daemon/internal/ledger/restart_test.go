package ledger

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestRestartKeepsWhatIsPersistedAndReusesNoVersion(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	last := api.Version{}
	for life := range 4 {
		is.NoErr(r.w.Put(Draft{Kind: api.KindMemory, Value: value(life)}, Draft{Kind: api.KindSharing, Value: value(life)}))
		is.Equal(names(r.List(Filter{})), []string{"memory", "sharing"})
		for _, rec := range r.List(Filter{}) {
			is.True(rec.Version().Compare(last) > 0)
		}
		last = r.List(Filter{})[1].Version()
		r.restart(t)
		is.Equal(names(r.List(Filter{})), []string{"sharing"})
		is.Equal(len(r.Skipped()), 0)
	}
	is.Equal(last.Inc, uint64(1)) // an orderly restart needs no incarnation
}

func TestReservationIsSavedBeforeUse(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	r.author.last.Seq = reserve - 1
	is.NoErr(r.w.Put(Draft{Kind: api.KindMemory, Value: value(1)}))
	r.store.full = true
	err := r.w.Put(Draft{Kind: api.KindMemory, Value: value(2)})
	is.True(errors.Is(err, errDisk))
	rec, _ := r.Get(r.key(api.KindMemory, ""))
	is.Equal(rec.Version().Seq, uint64(reserve)) // the old one stands
	r.store.full = false
	is.NoErr(r.w.Put(Draft{Kind: api.KindMemory, Value: value(2)}))
	is.Equal(r.store.version, api.Version{Inc: 1, Seq: 2 * reserve})
}

func TestCounterAtItsEndStartsAnIncarnation(t *testing.T) {
	for _, c := range []struct{ used, want api.Version }{
		{api.Version{Inc: 4, Seq: api.MaxCounter - 10}, api.Version{Inc: 5, Seq: 1}},
		{api.Version{Inc: 4, Seq: api.MaxCounter - reserve + 1}, api.Version{Inc: 5, Seq: 1}},
		{api.Version{Inc: 4, Seq: api.MaxCounter - reserve}, api.Version{Inc: 4, Seq: api.MaxCounter - reserve + 1}},
		{api.Version{Inc: api.MaxCounter - 1, Seq: api.MaxCounter}, api.Version{Inc: api.MaxCounter, Seq: 1}},
	} {
		is := is.New(t)
		r := newRig(t)
		r.store.version = c.used
		r.restart(t)
		is.NoErr(r.w.Put(Draft{Kind: api.KindMemory, Value: value(1)}))
		rec, _ := r.Get(r.key(api.KindMemory, ""))
		is.Equal(rec.Version(), c.want)
		is.True(rec.Version().Compare(c.used) > 0)
		is.True(r.store.version.Compare(c.want) > 0) // saved as used, with more
	}
}

func TestOpenErrors(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Options, *memStore)
	}{
		{"no key", func(o *Options, _ *memStore) { o.Key = nil }},
		{"no cluster", func(o *Options, _ *memStore) { o.Cluster = "" }},
		{"no counter", func(o *Options, _ *memStore) { o.Counter = nil }},
		{"full disk", func(_ *Options, s *memStore) { s.full = true }},
		{"counter out of range", func(_ *Options, s *memStore) { s.version = api.Version{Seq: 3} }},
		{"no incarnation left", func(_ *Options, s *memStore) { s.version = api.Version{Inc: api.MaxCounter, Seq: api.MaxCounter} }},
		{"unreadable documents", func(_ *Options, s *memStore) { s.docs[api.Key{}] = []byte("{") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			r := newRig(t)
			tt.change(&r.opts, r.store)
			_, _, err := Open(r.opts)
			is.True(err != nil)
		})
	}
}

func TestPersistedKindIsSavedFirstOrNotPublished(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	_, w := r.Watch(WatchOptions{})
	defer w.Close()
	r.store.full = true
	err := r.w.Put(Draft{Kind: api.KindSharing, Value: value(1)}, Draft{Kind: api.KindMemory, Value: value(1)})
	is.True(errors.Is(err, errDisk))
	is.Equal(len(r.List(Filter{})), 0)
	_, ok, _ := w.take()
	is.True(!ok)
	is.NoErr(r.w.Put(Draft{Kind: api.KindMemory, Value: value(1)})) // metrics need no disk
	r.store.full = false
	saves := r.store.saves
	is.NoErr(r.w.Put(Draft{Kind: api.KindJob, Name: "j4k2m9xq7", Value: value(1)}, Draft{Kind: api.KindRank, Name: "j4k2m9xq7/1/0", Value: value(1)}))
	is.Equal(r.store.saves, saves+1) // one commit for one step
}

func TestLoadMendsAndSkips(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	good := signed(t, 2, api.Document{Kind: api.KindJob, Name: "j4k2m9xq7", Inc: 1, Seq: 1})
	malformed := signed(t, 2, api.Document{Kind: api.KindJob, Name: "j4k2m9xq8", Inc: 1, Seq: 2})
	malformed.Inc = 0
	notKept := signed(t, 2, api.Document{Kind: api.KindMemory, Inc: 1, Seq: 3})
	ahead := signed(t, 1, api.Document{Kind: api.KindSharing, Inc: 6, Seq: 12, Value: value(4)}) // the counter was lost
	is.NoErr(r.store.Save([]api.Document{good, malformed, notKept, ahead}, nil))
	r.restart(t)
	is.Equal(len(r.Skipped()), 2)
	is.Equal(names(r.List(Filter{Nodes: []api.NodeID{testNode(2)}})), []string{"job j4k2m9xq7"})
	rec, ok := r.Get(r.key(api.KindSharing, ""))
	is.True(ok)
	is.Equal(rec.Version(), api.Version{Inc: 7, Seq: 1})
	is.Equal(string(rec.doc.Value), string(value(4)))
}

func TestRejoinSignsEverythingAgain(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	is.NoErr(r.w.Put(Draft{Kind: api.KindMemory, Value: value(1)}, Draft{Kind: api.KindSharing, Value: value(2)},
		Draft{Kind: api.KindGPUProfile, Value: value(3)}))
	is.NoErr(r.w.Delete(api.KindGPUProfile, ""))
	_, w := r.Watch(WatchOptions{Filter: Filter{Deleted: true}})
	defer w.Close()

	is.True(r.w.Rejoin("short") != nil)
	r.store.full = true
	is.True(errors.Is(r.w.Rejoin(otherCluster), errDisk))
	is.Equal(r.author.cluster, testCluster)
	r.store.full = false

	is.NoErr(r.w.Rejoin(otherCluster))
	is.Equal(r.author.cluster, otherCluster)
	c, ok, err := w.take()
	is.NoErr(err)
	is.True(ok)
	is.Equal(len(c.Put), 3)
	is.NoErr(r.w.Put(Draft{Kind: api.KindNodeState, Value: value(4)}))
	for _, rec := range r.List(Filter{Deleted: true}) {
		d := rec.Document()
		is.NoErr(d.Verify(otherCluster, r.author.public()))
		is.Equal(d.Inc, uint64(2))
	}
	// A crash before the documents were saved again is mended at the start.
	raw := r.store.docs
	r.opts.Cluster = testCluster
	r.restart(t)
	is.Equal(len(raw), 2)
	for _, rec := range r.List(Filter{Deleted: true}) {
		d := rec.Document()
		is.NoErr(d.Verify(testCluster, r.author.public()))
		is.Equal(d.Inc, uint64(3))
	}
}

// Documents keep their order: the oldest jobs are deleted first.
func TestRejoinKeepsTheOrder(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	var want []string
	for i := range 20 {
		want = append(want, fmt.Sprintf("j%08d", 20-i))
		is.NoErr(r.w.Put(Draft{Kind: api.KindJob, Name: want[i], Value: value(i)}))
	}
	is.NoErr(r.w.Rejoin(otherCluster))
	records := r.List(Filter{Kinds: []api.Kind{api.KindJob}})
	slices.SortFunc(records, func(a, b *Record) int { return a.Version().Compare(b.Version()) })
	for i, record := range records {
		is.Equal(record.Key().Name, want[i])
	}
}
