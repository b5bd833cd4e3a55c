package ledger

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

// model is a second, simple account of what a ledger must hold, and readers
// that build their own from snapshots and changes.
type model struct {
	t       testing.TB
	r       *rig
	want    map[api.Key]string // value by key; deleted keys are absent
	seq     map[byte]uint64    // of the other nodes
	old     []api.Document     // what they wrote, to be brought again
	readers []*modelReader
	newest  api.Version // the node's own
}

type modelReader struct {
	w      *Watcher
	filter Filter
	know   state
	n      uint64
}

func modelFilters() []Filter {
	return []Filter{{}, {Kinds: []api.Kind{api.KindThunderbolt}}, {Nodes: []api.NodeID{testNode(2)}}, {Deleted: true},
		{Kinds: []api.Kind{api.KindMemory, api.KindJob}, Nodes: []api.NodeID{testNode(1), testNode(2)}}}
}

// modelKeys are few, so that operations meet.
func modelKeys() []Draft {
	return []Draft{{Kind: api.KindMemory}, {Kind: api.KindSystem}, {Kind: api.KindThunderbolt, Name: "1"},
		{Kind: api.KindThunderbolt, Name: "2"}, {Kind: api.KindJob, Name: "j4k2m9xq7"}, {Kind: "from-the-future", Name: "x"}}
}

// step does what three bytes say.
func (m *model) step(op, a, b byte) {
	m.t.Helper()
	d := modelKeys()[int(a)%len(modelKeys())]
	key := m.r.key(d.Kind, d.Name)
	switch op % 12 {
	case 0, 1, 2:
		d.Value, d.Again = value(int(b%4)), b >= 128
		m.must(m.r.w.Put(d))
		m.want[key] = string(value(int(b % 4)))
	case 3:
		m.must(m.r.w.Delete(d.Kind, d.Name))
		delete(m.want, key)
	case 4, 5:
		m.foreign(2+b%2, d, a >= 200, int(b%4))
	case 6:
		if len(m.old) > 0 {
			got, err := m.r.PutForeign(m.old[int(a)%len(m.old)])
			m.must(err)
			if got != Known {
				m.t.Fatalf("a document brought again was %s", got)
			}
		}
	case 7:
		if len(m.readers) < 8 {
			f := modelFilters()[int(a)%len(modelFilters())]
			snapshot, w := m.r.Watch(WatchOptions{Filter: f, BatchBytes: int(b%3) * 500, Passive: b >= 128})
			m.readers = append(m.readers, &modelReader{w: w, filter: f, know: stateOf(snapshot)})
		}
	case 8, 9:
		if len(m.readers) > 0 {
			m.read(int(a)%len(m.readers), false)
		}
	case 10:
		if len(m.readers) > 0 && b < 64 {
			i := int(a) % len(m.readers)
			m.readers[i].w.Close()
			m.readers = append(m.readers[:i], m.readers[i+1:]...)
		}
	case 11:
		switch b % 4 {
		case 0:
			m.r.clock.step(time.Duration(a) * time.Minute / 4)
		case 1:
			m.must(m.r.w.Rejoin(testCluster))
		case 2:
			m.restart()
		case 3:
			m.forget(2 + a%2)
		}
	}
	m.check()
}

func (m *model) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *model) foreign(node byte, d Draft, isDeleted bool, n int) {
	m.seq[node]++
	doc := api.Document{Kind: d.Kind, Name: d.Name, Inc: 1, Seq: m.seq[node], Deleted: isDeleted}
	if !isDeleted {
		doc.Value = value(n)
	}
	doc = signed(m.t, node, doc)
	got, err := m.r.PutForeign(doc)
	m.must(err)
	if got != Taken {
		m.t.Fatalf("a new document was %s", got)
	}
	m.old = append(m.old, doc)
	delete(m.want, doc.Key())
	if !isDeleted {
		m.want[doc.Key()] = string(doc.Value)
	}
}

func (m *model) forget(node byte) {
	m.must(m.r.Forget(testNode(node)))
	var kept []api.Document
	for _, o := range m.old {
		if o.Node != testNode(node) {
			kept = append(kept, o)
		}
	}
	m.old = kept
	for k := range m.want {
		if k.Node == testNode(node) {
			delete(m.want, k)
		}
	}
}

func (m *model) restart() {
	m.r.restart(m.t)
	m.readers = nil
	for k := range m.want {
		if k.Kind != api.KindJob {
			delete(m.want, k)
		}
	}
	// What is not kept would come again with its next version.
	m.old = nil
}

// check compares the ledger with the model, and its versions with the past.
func (m *model) check() {
	m.t.Helper()
	all := m.r.List(Filter{})
	if len(all) != len(m.want) {
		m.t.Fatalf("%d documents instead of %d", len(all), len(m.want))
	}
	for _, rec := range all {
		if want, ok := m.want[rec.Key()]; !ok || want != string(rec.doc.Value) {
			m.t.Fatalf("%s is %s instead of %s", rec.Key(), rec.doc.Value, want)
		}
	}
	type named struct {
		kind api.Kind
		name string
	}
	left, held := map[named][]*Record{}, map[named][]*Record{}
	for _, rec := range m.r.List(Filter{Deleted: true}) {
		n := named{rec.Key().Kind, rec.Key().Name}
		if held[n] = append(held[n], rec); !rec.Deleted() {
			left[n] = append(left[n], rec)
		}
	}
	for n := range held {
		if !slices.Equal(m.r.Named(n.kind, n.name, false), left[n]) || !slices.Equal(m.r.Named(n.kind, n.name, true), held[n]) {
			m.t.Fatalf("%s by name is not what is listed", n.name)
		}
	}
	if given := m.r.author.given(); given.Compare(m.newest) < 0 {
		m.t.Fatalf("version %v after %v", given, m.newest)
	} else {
		m.newest = given
	}
}

// read takes one change, or all; a reader that lagged begins again.
func (m *model) read(i int, all bool) {
	m.t.Helper()
	rd := m.readers[i]
	for {
		c, ok, err := rd.w.take()
		switch {
		case errors.Is(err, api.ReasonLagged):
			if _, _, err := rd.w.take(); err != ErrEnded {
				m.t.Fatal("lagged and not ended")
			}
			snapshot, w := m.r.Watch(WatchOptions{Filter: rd.filter})
			*rd = modelReader{w: w, filter: rd.filter, know: stateOf(snapshot)}
		case err != nil:
			m.t.Fatal(err)
		case ok:
			if rd.n++; c.N != rd.n {
				m.t.Fatalf("change %d instead of %d", c.N, rd.n)
			}
			rd.know.apply(c)
		}
		if !ok || !all {
			return
		}
	}
}

// finish lets every reader read to the end and compares.
func (m *model) finish() {
	m.t.Helper()
	for i, rd := range m.readers {
		m.read(i, true)
		have := stateOf(m.r.List(rd.filter))
		if rd.filter.Deleted { // what was forgotten in silence, a deletion, may be known still
			for k := range rd.know {
				if _, ok := have[k]; !ok && m.want[k] == "" {
					delete(rd.know, k)
				}
			}
		}
		if !rd.know.equal(have) {
			m.t.Fatalf("reader %d knows %v instead of %v", i, rd.know, have)
		}
	}
}

func runModel(t testing.TB, ops []byte) {
	m := &model{t: t, r: newRig(t, func(o *Options) { o.Queue = 4 }), want: map[api.Key]string{}, seq: map[byte]uint64{}}
	for ; len(ops) >= 3; ops = ops[3:] {
		m.step(ops[0], ops[1], ops[2])
	}
	m.finish()
}

func TestModel(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	for seed := range testkit.Upto(t, rounds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := seed.Source(1)
			ops := make([]byte, 3*300)
			for i := range ops {
				ops[i] = byte(rng.Uint32())
			}
			runModel(t, ops)
		})
	}
}

func FuzzOperations(f *testing.F) {
	f.Add([]byte{7, 0, 0, 0, 0, 1, 8, 0, 0, 3, 0, 0, 8, 0, 0})
	f.Add([]byte{7, 3, 1, 4, 2, 2, 6, 0, 0, 11, 0, 3, 11, 0, 2, 0, 4, 1, 11, 0, 1})
	f.Fuzz(func(t *testing.T, ops []byte) {
		if len(ops) > 600 {
			ops = ops[:600]
		}
		runModel(t, ops)
	})
}
