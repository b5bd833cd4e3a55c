package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// A document fits up to the last one, and the last byte, that may be there; one that
// replaces another has half as many bytes more.
func TestQuotaToTheByte(t *testing.T) {
	const half = 3 // of two
	kind := api.KindThunderbolt
	quota := kind.Quota()
	held, fresh := api.Key{Node: testNode(2), Kind: kind, Name: "1"}, api.Key{Node: testNode(2), Kind: kind, Name: "2"}
	own := api.Key{Node: testNode(1), Kind: kind, Name: "2"}
	for _, c := range []struct {
		name                               string
		key                                api.Key
		documents, ofKind, ofNode, foreign int
		weight                             int
		want                               string
	}{
		{"nothing is there", fresh, 0, 0, 0, 0, quota.Bytes, ""},
		{"a byte too large", fresh, 0, 0, 0, 0, quota.Bytes + 1, "2048 KiB"},
		{"the last document", fresh, quota.Documents - 1, 0, 0, 0, 1, ""},
		{"one too many", fresh, quota.Documents, 0, 0, 0, 1, "64 documents"},
		{"one too many, of no weight", fresh, quota.Documents, 0, 0, 0, 0, "64 documents"},
		{"another for the one that is held", held, quota.Documents, 0, 0, 0, 1, ""},
		{"the last byte of the kind", fresh, 1, quota.Bytes - 10, 0, 0, 10, ""},
		{"one byte more of the kind", fresh, 1, quota.Bytes - 10, 0, 0, 11, "2048 KiB"},
		{"of no weight where there is too much", fresh, 1, 2 * quota.Bytes, 0, 0, 0, ""},
		{"the last byte in place of the one that is held", held, 1, quota.Bytes*half/2 - 10, 0, 0, 110, ""},
		{"one byte more in its place", held, 1, quota.Bytes*half/2 - 10, 0, 0, 111, "2048 KiB"},
		{"a smaller one in its place", held, 1, 2 * quota.Bytes, 0, 0, 100, ""},
		{"the last byte of the node", fresh, 1, 0, api.MaxWriterBytes - 10, 0, 10, ""},
		{"one byte more of the node", fresh, 1, 0, api.MaxWriterBytes - 10, 0, 11, "16384 KiB of all kinds"},
		{"one byte more of the node in the place of one", held, 1, 0, api.MaxWriterBytes*half/2 - 10, 0, 111, "16384 KiB of all kinds"},
		{"the last byte of all", fresh, 1, 0, api.MaxForeignBytes, api.MaxForeignBytes - 10, 10, "16384 KiB of all kinds"},
		{"the last byte of all, of one that has little", fresh, 1, 0, 0, api.MaxForeignBytes - 10, 10, ""},
		{"more than all, of one that has little", fresh, 1, 0, 0, 2 * api.MaxForeignBytes, 10, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			r := newRig(t)
			r.setLocked(&Record{doc: signed(t, 2, api.Document{Kind: kind, Name: "1", Inc: 1, Seq: 1})})
			r.records[held].weight = 100
			w := r.recordsByNode.nodes[testNode(2)]
			w.bytes, r.foreign = c.ofNode, c.foreign
			w.kinds[kind] = &holding{documents: c.documents, bytes: c.ofKind}
			is.Equal(r.boundLocked(c.key, c.weight), c.want)
		})
	}
	// Above what all may have together each has its part of it.
	is := is.New(t)
	r := newRig(t)
	for i := range 8 {
		r.recordsByNode.nodes[testNode(byte(i+2))] = &nodeRecords{kinds: map[api.Kind]*holding{}}
	}
	part := api.MaxForeignBytes / 8
	reported := fmt.Sprintf("%d KiB of all kinds, its part of the %d that all Macs may have together", part>>10, api.MaxForeignBytes>>10)
	r.recordsByNode.nodes[testNode(2)].bytes = part - 10
	for foreign, bounds := range map[int][2]string{api.MaxForeignBytes: {"", reported}, api.MaxForeignBytes - 10: {"", reported}, api.MaxForeignBytes - 11: {"", ""}} {
		r.foreign = foreign
		is.Equal(r.boundLocked(fresh, 10), bounds[0])
		is.Equal(r.boundLocked(fresh, 11), bounds[1])
	}
	r.foreign = 2 * api.MaxForeignBytes
	r.recordsByNode.nodes[testNode(1)] = &nodeRecords{kinds: map[api.Kind]*holding{}, bytes: part}
	is.Equal(r.boundLocked(own, 100), "") // this node's own are not of all the others
	is.NoErr(r.Fits(own, testNode(2)))
}

// A writer is over for as long as OverFor, to the end of it.
func TestOverToTheEnd(t *testing.T) {
	is := is.New(t)
	reported := 0
	r := newRig(t, func(o *Options) { o.OnOver = func() { reported++ } })
	r.setLocked(&Record{doc: signed(t, 2, api.Document{Kind: api.KindMemory, Inc: 1, Seq: 1})})
	r.setLocked(&Record{doc: signed(t, 3, api.Document{Kind: api.KindMemory, Inc: 1, Seq: 1})})
	key := api.Key{Node: testNode(3), Kind: api.KindThunderbolt, Name: "1"}
	other := api.Key{Node: testNode(2), Kind: api.KindThunderbolt, Name: "1"}
	r.refuseLocked(key, "some")
	r.refuseLocked(api.Key{Node: testNode(3), Kind: api.KindJob, Name: "j00000001"}, "some")
	r.refuseLocked(other, "some")
	is.Equal(reported, 3)
	var order []string
	for _, o := range r.OverQuota() {
		order = append(order, fmt.Sprintf("%t %s", o.Node == testNode(2), o.Kind))
		is.Equal(o.Refused, uint64(1))
	}
	if testNode(2) < testNode(3) {
		is.Equal(order, []string{"true thunderbolt", "false job", "false thunderbolt"})
	} else {
		is.Equal(order, []string{"false job", "false thunderbolt", "true thunderbolt"})
	}
	r.clock.step(OverFor)
	is.True(r.Fits(key, testNode(2)) != nil)
	r.refuseLocked(key, "more")
	is.Equal(reported, 3) // it is the same one
	is.Equal(len(r.OverQuota()), 3)
	r.clock.step(1)
	is.NoErr(r.Fits(other, testNode(3)))
	is.True(r.Fits(key, testNode(2)) != nil)
	all := r.OverQuota()
	is.Equal(len(all), 1)
	is.Equal(all[0].Refused, uint64(2))
	is.Equal(all[0].Bound, "more")
	r.clock.step(OverFor + 1)
	r.refuseLocked(key, "some")
	is.Equal(reported, 4)
	is.Equal(r.OverQuota()[0].Refused, uint64(1)) // counted anew
}

// A deletion is kept for its time, to the end of it: since it arrived, or, where that
// was before the last start, since it was written, unless that is still to come.
func TestDeletionsAreKeptToTheEnd(t *testing.T) {
	held := func(r *rig) bool {
		_, is := r.Latest(api.Key{Node: testNode(2), Kind: api.KindJob, Name: "j00000001"})
		return is
	}
	for _, c := range []struct {
		name      string
		written   time.Duration // before it arrives
		restarted bool
		kept      time.Duration // since then
	}{
		{"arrived", 0, false, api.TombstoneTTL},
		{"written long before it arrived", 48 * time.Hour, false, api.TombstoneTTL},
		{"loaded", 48 * time.Hour, true, api.TombstoneTTL - 48*time.Hour},
		{"loaded, and written by a clock that is ahead", -480 * time.Hour, true, api.TombstoneTTL},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			r := newRig(t)
			_, err := r.PutForeign(signed(t, 2, api.Document{Kind: api.KindJob, Name: "j00000001", Inc: 1, Seq: 1, Deleted: true, At: api.TimeOf(r.clock.now().Add(-c.written))}))
			is.NoErr(err)
			if c.restarted {
				r.restart(t)
			}
			r.clock.step(c.kept)
			r.sweep()
			is.True(held(r))
			r.clock.step(1)
			r.sweep()
			is.True(held(r)) // not looked through again so soon
			r.clock.step(sweepPeriod - 2)
			r.sweep()
			is.True(held(r))
			r.clock.step(1)
			r.sweep()
			is.True(!held(r))
			is.Equal(len(r.store.docs), 0)
		})
	}
	is := is.New(t) // a clock that was set back does not put it off
	r := newRig(t)
	_, err := r.PutForeign(signed(t, 2, api.Document{Kind: api.KindJob, Name: "j00000001", Inc: 1, Seq: 1, Deleted: true}))
	is.NoErr(err)
	r.sweptAt = r.clock.now().Add(api.TombstoneTTL + 2*time.Hour)
	r.clock.step(api.TombstoneTTL + time.Hour)
	r.sweep()
	is.True(!held(r))
}

// A daemon that begins does not look through what it has loaded: its clock may be ahead
// until the network has set it.
func TestDeletionsStayForAWhileAfterAStart(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	key := api.Key{Node: testNode(2), Kind: api.KindJob, Name: "j00000001"}
	_, err := r.PutForeign(signed(t, 2, api.Document{Kind: key.Kind, Name: key.Name, Inc: 1, Seq: 1, Deleted: true, At: api.TimeOf(r.clock.now())}))
	is.NoErr(err)
	r.clock.step(2 * api.TombstoneTTL)
	r.restart(t)
	for _, after := range []time.Duration{0, sweepPeriod - 1, 1} {
		_, isHeld := r.Latest(key)
		is.True(isHeld)
		r.clock.step(after)
		r.sweep()
	}
	_, isHeld := r.Latest(key)
	is.True(!isHeld)
}

// The length of what goes over the wire is bounded by each part of a document, and not
// by much more than it takes.
func TestSizeOfEachPart(t *testing.T) {
	long := strings.Repeat("x", 4000)
	awkward := strings.Repeat("<", 4000)
	for name, d := range map[string]api.Document{
		"value":         {Kind: api.KindMemory, Value: json.RawMessage(`{"t":"` + long + `"}`)},
		"name":          {Kind: "next", Name: long},
		"awkward name":  {Kind: "next", Name: awkward},
		"kind":          {Kind: api.Kind(strings.Repeat("k", 4000))},
		"unknown field": {Kind: api.KindMemory, Unknown: map[string]api.Reason{awkward: api.ReasonNeedsRoot}},
		"reason":        {Kind: api.KindMemory, Unknown: map[string]api.Reason{"a": api.Reason(long)}},
		"extra":         {Kind: api.KindMemory, Extra: map[string]json.RawMessage{"next": json.RawMessage(`"` + long + `"`)}},
		"extra field":   {Kind: api.KindMemory, Extra: map[string]json.RawMessage{long: json.RawMessage(`1`)}},
		"awkward field": {Kind: api.KindMemory, Extra: map[string]json.RawMessage{awkward: json.RawMessage(`1`)}},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			d.Node, d.Inc, d.Seq, d.Sig = testNode(2), api.MaxCounter, api.MaxCounter, make([]byte, 64)
			d.At = api.TimeOf(newWall().t)
			if d.Value == nil {
				d.Value = value(1)
			}
			r := &Record{doc: d}
			raw, err := d.MarshalJSON()
			is.NoErr(err)
			is.True(len(raw) <= r.SizeBytes())
			is.True(r.SizeBytes() < 6*len(raw)+400)
		})
	}
}

// A change takes as many records as fit to the byte.
func TestBatchToTheByte(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	r.put(t, 1, 1)
	r.put(t, 2, 2)
	size := 0
	for _, rec := range r.List(Filter{}) {
		size += rec.SizeBytes()
	}
	for _, c := range []struct{ bytes, first int }{{size, 2}, {size - 1, 1}, {1, 1}, {0, 2}} {
		_, w := r.Watch(WatchOptions{BatchBytes: c.bytes})
		is.NoErr(r.w.Put(Draft{Kind: api.KindThunderbolt, Name: "1", Value: value(1), Again: true}, Draft{Kind: api.KindThunderbolt, Name: "2", Value: value(2), Again: true}))
		got := 0
		for want := c.first; got < 2; want = 1 {
			change, ok, err := w.take()
			is.NoErr(err)
			is.True(ok)
			is.Equal(len(change.Put), want)
			got += want
		}
		w.Close()
	}
}

// What was overtaken is neither held nor told.
func TestOvertakenIsDropped(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	doc := signed(t, 2, api.Document{Kind: api.KindMemory, Inc: 1, Seq: 5})
	older := signed(t, 2, api.Document{Kind: api.KindMemory, Inc: 1, Seq: 4, Value: value(4)})
	r.commit([]api.Document{doc}, nil)
	held, _ := r.Latest(doc.Key())
	_, w := r.Watch(WatchOptions{})
	defer w.Close()
	r.commit([]api.Document{doc, older}, nil)
	again, _ := r.Latest(doc.Key())
	is.True(held == again)
	_, ok, err := w.take()
	is.NoErr(err)
	is.True(!ok)
}

// Without members nobody's documents are taken but the node's own, and without a store
// they end with the process.
func TestAlone(t *testing.T) {
	is := is.New(t)
	r := newRig(t, func(o *Options) { o.Members, o.Store, o.Now = nil, nil, nil })
	_, err := r.PutForeign(signed(t, 2, api.Document{Kind: api.KindMemory, Inc: 1, Seq: 1}))
	is.True(errors.Is(err, api.ReasonNotAMember))
	before := time.Now()
	is.NoErr(r.w.Put(Draft{Kind: api.KindSharing, Value: value(1)}))
	rec, ok := r.Get(r.key(api.KindSharing, ""))
	is.True(ok)
	is.True(!rec.Since().Before(before))
	is.Equal(r.options.Queue, DefaultQueue)
	r.restart(t)
	is.Equal(len(r.List(Filter{})), 0)
	is.Equal(len(r.store.docs), 0)
}

// What cannot be saved is not said again: the old versions and the old cluster stand.
func TestRestatingNeedsTheStore(t *testing.T) {
	is := is.New(t)
	r := newRig(t, func(o *Options) { o.TakesBack = func(api.Document) bool { return true } })
	is.NoErr(r.w.Put(Draft{Kind: api.KindSharing, Value: value(1)}))
	before := stateOf(r.List(Filter{}))
	r.store.sealed = true
	is.True(errors.Is(r.w.Rejoin(otherCluster), errDisk))
	is.Equal(r.author.cluster, testCluster)
	got, err := r.PutForeign(signed(t, 1, api.Document{Kind: api.KindSharing, Inc: 7, Seq: 1}))
	is.Equal(got, Refused)
	is.True(errors.Is(err, errDisk))
	r.store.sealed = false
	r.w.ledger.author.last.Seq = 900
	r.store.sealed = true
	got, err = r.PutForeign(signed(t, 1, api.Document{Kind: api.KindJob, Name: "j00000001", Inc: 1, Seq: 800}))
	is.Equal(got, Refused) // not taken back
	is.True(errors.Is(err, errDisk))
	is.True(before.equal(stateOf(r.List(Filter{}))))
	is.True(r.w.Put(Draft{Kind: api.KindMemory, Value: make(chan int)}) != nil) // has no form
}

// A document that a start cannot sign or save again keeps the ledger shut; what it
// cannot forget is told.
func TestStartNeedsTheStore(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	ahead := signed(t, 1, api.Document{Kind: api.KindSharing, Inc: 6, Seq: 12})
	is.NoErr(r.store.Save([]api.Document{ahead}, nil))
	r.store.sealed = true
	_, _, err := Open(r.opts)
	is.True(errors.Is(err, errDisk))
	r.store.sealed = false
	r.restart(t)
	f := &flood{t: t, by: 2}
	var docs []api.Document
	for i := range api.KindLinkProfile.Quota().Deleted + 1 {
		docs = append(docs, f.next(api.KindLinkProfile, address(i), nil))
	}
	is.NoErr(r.store.Save(docs, nil))
	r.store.sealed = true
	r.restart(t)
	is.Equal(len(r.Skipped()), 1)
	is.True(errors.Is(r.Skipped()[0], errDisk))
}

// Who is watched, apart from those who only pass documents on.
func TestWatched(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	_, passive := r.Watch(WatchOptions{Passive: true})
	defer passive.Close()
	key := r.key(api.KindJob, "j00000001")
	is.True(!r.Watched(key))
	_, other := r.Watch(WatchOptions{Filter: Filter{Kinds: []api.Kind{api.KindMemory}}})
	defer other.Close()
	is.True(!r.Watched(key))
	_, w := r.Watch(WatchOptions{Filter: Filter{Kinds: []api.Kind{api.KindJob}}})
	is.True(r.Watched(key))
	w.Close()
	is.True(!r.Watched(key))
	done := r.Want(Filter{Kinds: []api.Kind{api.KindSystem, api.KindMemory}, Nodes: []api.NodeID{testNode(2)}})
	defer done()
	is.Equal(interests(r.Ledger), []api.Key{{Kind: api.KindMemory}, {Kind: api.KindMemory, Node: testNode(2)}, {Kind: api.KindSystem, Node: testNode(2)}})
}
