package ledger

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestPutForeign(t *testing.T) {
	held := api.Document{Kind: api.KindMemory, Inc: 2, Seq: 5, Value: value(5)}
	at := func(inc, seq uint64, n int) api.Document {
		return api.Document{Kind: api.KindMemory, Inc: inc, Seq: seq, Value: value(n)}
	}
	for _, tt := range []struct {
		name string
		by   byte
		doc  api.Document
		ruin func(*api.Document)
		want Outcome
		err  error
	}{
		{name: "newer", by: 2, doc: at(2, 6, 6), want: Taken},
		{name: "newer incarnation", by: 2, doc: at(3, 1, 6), want: Taken},
		{name: "the same", by: 2, doc: held, want: Known},
		{name: "older", by: 2, doc: at(2, 4, 4), want: Known},
		{name: "older incarnation", by: 2, doc: at(1, 99, 4), want: Known},
		{name: "deletion", by: 2, doc: api.Document{Kind: api.KindMemory, Inc: 2, Seq: 6, Deleted: true}, want: Taken},
		{name: "unknown kind", by: 2, doc: api.Document{Kind: "from-the-future", Name: "x", Inc: 1, Seq: 1}, want: Taken},
		{name: "two contents for one version", by: 2, doc: at(2, 5, 7), want: Refused, err: api.ReasonDuplicateIdentity},
		{name: "value changed on the way", by: 2, doc: at(2, 6, 6), ruin: func(d *api.Document) { d.Value = value(7) }, want: Refused, err: api.ReasonBadSignature},
		{name: "version raised on the way", by: 2, doc: at(2, 6, 6), ruin: func(d *api.Document) { d.Seq = 100 }, want: Refused, err: api.ReasonBadSignature},
		{name: "unsigned", by: 2, doc: at(2, 6, 6), ruin: func(d *api.Document) { d.Sig = nil }, want: Refused, err: api.ReasonBadSignature},
		{name: "in another's name", by: 3, doc: at(2, 6, 6), ruin: func(d *api.Document) { d.Node = testNode(2) }, want: Refused, err: api.ReasonBadSignature},
		{name: "in this node's name", by: 3, doc: at(2, 6, 6), ruin: func(d *api.Document) { d.Node = testNode(1) }, want: Refused, err: api.ReasonBadSignature},
		{name: "no member", by: 9, doc: at(2, 6, 6), want: Refused, err: api.ReasonNotAMember},
		{name: "never replicated", by: 2, doc: api.Document{Kind: api.KindPending, Name: string(testNode(3)), Inc: 2, Seq: 6}, want: Refused, err: api.ReasonBadValue},
		{name: "a number that cannot be", by: 2, doc: api.Document{Kind: api.KindMemory, Inc: 2, Seq: 6, Value: json.RawMessage(`{"used_bytes":-9223372036854775808}`)}, want: Refused, err: api.ReasonMalformedDocument},
		{name: "malformed", by: 2, doc: at(2, 6, 6), ruin: func(d *api.Document) { d.Seq = 0; d.Inc = 9 }, want: Refused, err: api.ReasonMalformedDocument},
	} {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			r := newRig(t)
			first, err := r.PutForeign(signed(t, 2, held))
			is.NoErr(err)
			is.Equal(first, Taken)
			before := stateOf(r.List(Filter{Deleted: true}))
			d := signed(t, tt.by, tt.doc)
			if tt.ruin != nil {
				tt.ruin(&d)
			}
			got, err := r.PutForeign(d)
			is.Equal(got, tt.want)
			is.True(errors.Is(err, tt.err))
			after := stateOf(r.List(Filter{Deleted: true}))
			is.Equal(!before.equal(after), tt.want == Taken)
		})
	}
}

func TestForeignThatCannotBeSavedIsHeldAndTold(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	r.store.full = true
	got, err := r.PutForeign(signed(t, 2, api.Document{Kind: api.KindJob, Name: "j4k2m9xq7", Inc: 1, Seq: 1}))
	is.Equal(got, Taken)
	is.True(errors.Is(err, errDisk))
	is.Equal(names(r.List(Filter{})), []string{"job j4k2m9xq7"})
}

func TestMeetingOwnDocuments(t *testing.T) {
	for _, tt := range []struct {
		name    string
		doc     api.Document
		want    Outcome
		wantInc uint64
	}{
		{"left over from before a restart", api.Document{Kind: api.KindThunderbolt, Name: "3", Inc: 1, Seq: 9}, Orphan, 1},
		{"of the last version given away", api.Document{Kind: api.KindThunderbolt, Name: "3", Inc: 1, Seq: 1002}, Orphan, 1},
		{"of a held key, saved elsewhere only", api.Document{Kind: api.KindMemory, Inc: 1, Seq: 900}, Answered, 1},
		{"from a life that was lost", api.Document{Kind: api.KindMemory, Inc: 7, Seq: 3}, Answered, 8},
		{"from a lost life, of a key not held", api.Document{Kind: api.KindThunderbolt, Name: "3", Inc: 1, Seq: reserve + 1}, Orphan, 2},
		{"of a version used twice, as by a disk set back", api.Document{Kind: api.KindMemory, Inc: 1, Seq: 1001, Value: value(9)}, Answered, 2},
		{"older than what is held", api.Document{Kind: api.KindMemory, Inc: 1, Seq: 1, Value: value(1)}, Known, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			r := newRig(t)
			is.NoErr(r.w.Put(Draft{Kind: api.KindMemory, Value: value(1)}))
			r.author.last.Seq = 1000
			is.NoErr(r.w.Put(Draft{Kind: api.KindMemory, Value: value(2)}, Draft{Kind: api.KindSharing, Value: value(3)}))
			if tt.want == Answered && tt.wantInc == 1 {
				// As if this node had lost the last save of one key.
				r.setLocked(&Record{doc: signed(t, 1, api.Document{Kind: tt.doc.Kind, Inc: 1, Seq: 2, Value: value(2)})})
			}
			got, err := r.PutForeign(signed(t, 1, tt.doc))
			is.NoErr(err)
			is.Equal(got, tt.want)
			for _, key := range []api.Key{r.key(api.KindMemory, ""), r.key(api.KindSharing, "")} {
				rec, ok := r.Get(key)
				is.True(ok)
				is.Equal(rec.Version().Inc, tt.wantInc)
				d := rec.Document()
				is.NoErr(d.Verify(testCluster, r.author.public()))
			}
			rec, _ := r.Get(r.key(api.KindMemory, ""))
			is.Equal(string(rec.doc.Value), string(value(2))) // its own word stands
			is.True(rec.Version().Compare(tt.doc.Version()) > 0 || tt.want == Orphan)
			is.True(r.author.given().Compare(tt.doc.Version()) >= 0)
			// A orphan can be ended though it was never held.
			if tt.want == Orphan {
				is.NoErr(r.w.Put(Draft{Kind: tt.doc.Kind, Name: tt.doc.Name, Delete: true, Again: true}))
				dead := r.List(Filter{Kinds: []api.Kind{tt.doc.Kind}, Deleted: true})
				is.Equal(len(dead), 1)
				is.True(dead[0].Version().Compare(tt.doc.Version()) > 0)
			}
		})
	}
}

// What was lost with a store is taken back, where it still counts, at a version above
// and signed again; it survives the next start, and what was deleted stays so.
func TestTakingBack(t *testing.T) {
	is := is.New(t)
	r := newRig(t, func(o *Options) {
		o.TakesBack = func(d api.Document) bool { return d.Kind == api.KindJob }
	})
	lost := func(kind api.Kind, name string, inc, seq uint64) api.Document {
		return signed(t, 1, api.Document{Kind: kind, Name: name, Inc: inc, Seq: seq, Value: value(int(seq))})
	}
	meet := func(d api.Document, want Outcome) {
		t.Helper()
		got, err := r.PutForeign(d)
		is.NoErr(err)
		is.Equal(got, want)
	}
	low, high := lost(api.KindJob, "j4k2m9xq7", 1, 5), lost(api.KindJob, "j00000001", 7, 3)
	meet(low, Answered)  // of a version that this life has not come to
	meet(high, Answered) // and above all that it gave
	meet(low, Known)
	meet(lost(api.KindRank, "j4k2m9xq7/1/0", 7, 4), Orphan)
	is.NoErr(r.w.Delete(api.KindJob, "j00000001"))
	meet(high, Known)
	r.restart(t)
	rec, found := r.Get(r.key(api.KindJob, "j4k2m9xq7"))
	is.True(found)
	d := rec.Document()
	is.Equal(string(d.Value), string(value(5)))
	is.Equal(d.At, low.At) // when it was written first
	is.True(d.Version().Compare(high.Version()) > 0)
	is.NoErr(d.Verify(testCluster, r.author.public()))
	_, found = r.Get(r.key(api.KindJob, "j00000001"))
	is.True(!found)
}

func TestForget(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	is.NoErr(r.w.Put(Draft{Kind: api.KindMemory, Value: value(1)}))
	for _, d := range []api.Document{{Kind: api.KindMemory, Inc: 1, Seq: 1}, {Kind: api.KindJob, Name: "j4k2m9xq7", Inc: 1, Seq: 2},
		{Kind: api.KindNetwork, Inc: 1, Seq: 3, Deleted: true}} {
		_, err := r.PutForeign(signed(t, 2, d))
		is.NoErr(err)
	}
	_, w := r.Watch(WatchOptions{})
	defer w.Close()
	is.NoErr(r.Forget(testNode(2)))
	is.Equal(names(r.List(Filter{Deleted: true})), []string{"memory"})
	is.Equal(len(r.store.docs), 0)
	c, ok, err := w.take()
	is.NoErr(err)
	is.True(ok)
	is.Equal(len(c.Del), 2)
	is.True(errors.Is(r.Forget(testNode(1)), api.ReasonBadValue))
	// Nothing is remembered: the same document is news.
	got, err := r.PutForeign(signed(t, 2, api.Document{Kind: api.KindMemory, Inc: 1, Seq: 1}))
	is.NoErr(err)
	is.Equal(got, Taken)
}

func TestLatestGivesDeletionsAndSinceWhen(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	key := r.key(api.KindSharing, "")
	_, ok := r.Latest(key)
	is.True(!ok)
	is.NoErr(r.w.Put(Draft{Kind: key.Kind, Value: value(1)}))
	is.NoErr(r.w.Delete(key.Kind, key.Name))
	_, ok = r.Get(key)
	is.True(!ok)
	rec, ok := r.Latest(key)
	is.True(ok && rec.Deleted())
	is.Equal(rec.Since(), r.clock.now())
	r.restart(t)
	rec, _ = r.Latest(key)
	is.True(rec.Since().IsZero()) // nobody knows any more
}
