package ledger

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestPutSignsAndNumbers(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	is.NoErr(r.w.Put(Draft{Kind: api.KindMemory, Value: api.Memory{Pressure: api.PressureNormal},
		Unknown: map[string]api.Reason{"total_bytes": api.ReasonNotYetRead}, Simulated: true}))
	is.NoErr(r.w.Put(Draft{Kind: "from-the-future", Name: "x", Value: value(1)}))
	first, ok := r.Get(r.key(api.KindMemory, ""))
	is.True(ok)
	second, ok := r.Get(r.key("from-the-future", "x"))
	is.True(ok)
	is.Equal(first.Version(), api.Version{Inc: 1, Seq: 1})
	is.Equal(second.Version(), api.Version{Inc: 1, Seq: 2})
	d := first.Document()
	is.NoErr(d.Verify(testCluster, r.author.public()))
	is.Equal(d.At, api.TimeOf(r.clock.now()))
	is.Equal(d.Unknown["total_bytes"], api.ReasonNotYetRead)
	is.True(d.Simulated)
	var m api.Memory
	is.NoErr(first.Decode(&m))
	is.Equal(m.Pressure, api.PressureNormal)
}

func TestPutRefusals(t *testing.T) {
	good := Draft{Kind: api.KindMemory, Value: value(1)}
	for _, tt := range []struct {
		name   string
		drafts []Draft
		want   error
	}{
		{"another owner's kind", []Draft{good, {Kind: api.KindNetwork, Value: value(1)}}, api.ReasonNotTheWriter},
		{"the same key twice", []Draft{good, good}, api.ReasonBadValue},
		{"a name that the kind has not", []Draft{good, {Kind: api.KindSystem, Name: "x", Value: value(1)}}, api.CodeInvalid},
		{"a value that is no object", []Draft{good, {Kind: api.KindSystem, Value: json.RawMessage("1")}}, api.ReasonMalformedDocument},
		{"no kind", []Draft{good, {Value: value(1)}}, api.CodeDenied},
	} {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			r := newRig(t)
			err := r.w.Owner("facts", api.KindMemory, api.KindSystem).Put(tt.drafts...)
			is.True(errors.Is(err, tt.want))
			is.Equal(len(r.List(Filter{})), 0) // all or nothing
		})
	}
}

func TestUnchangedIsNotPublished(t *testing.T) {
	base := Draft{Kind: api.KindMemory, Value: value(1), Unknown: map[string]api.Reason{"a": api.ReasonNeedsRoot}}
	for _, tt := range []struct {
		name   string
		change func(*Draft)
		isNew  bool
	}{
		{"only the time", func(*Draft) {}, false},
		{"again", func(d *Draft) { d.Again = true }, true},
		{"value", func(d *Draft) { d.Value = value(2) }, true},
		{"reason", func(d *Draft) { d.Unknown = map[string]api.Reason{"a": api.ReasonReadFailed} }, true},
		{"no reason", func(d *Draft) { d.Unknown = nil }, true},
		{"simulated", func(d *Draft) { d.Simulated = true }, true},
		{"deleted", func(d *Draft) { d.Delete = true }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			r := newRig(t)
			is.NoErr(r.w.Put(base))
			_, w := r.Watch(WatchOptions{})
			defer w.Close()
			d := base
			tt.change(&d)
			r.clock.step(time.Second)
			is.NoErr(r.w.Put(d))
			_, isNew, err := w.take()
			is.NoErr(err)
			is.Equal(isNew, tt.isNew)
		})
	}
}

func TestDeleteHidesAndIsKeptForThirtyDays(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	is.NoErr(r.w.Put(Draft{Kind: api.KindJob, Name: "j4k2m9xq7", Value: value(1)}))
	is.NoErr(r.w.Delete(api.KindJob, "j4k2m9xq7"))
	is.NoErr(r.w.Delete(api.KindJob, "j4k2m9xq7")) // twice says nothing new
	is.NoErr(r.w.Delete(api.KindJob, "j00000000")) // never there
	_, ok := r.Get(r.key(api.KindJob, "j4k2m9xq7"))
	is.True(!ok)
	is.Equal(len(r.List(Filter{})), 0)
	dead := r.List(Filter{Deleted: true})
	is.Equal(names(dead), []string{"job j4k2m9xq7"})
	is.Equal(dead[0].Version().Seq, uint64(2))

	r.clock.step(24 * time.Hour)
	r.restart(t) // a restart changes nothing of that
	is.Equal(len(r.List(Filter{Deleted: true})), 1)
	r.clock.step(api.TombstoneTTL - 24*time.Hour)
	is.NoErr(r.w.Put(Draft{Kind: api.KindMemory, Value: value(1)}))
	is.Equal(names(r.List(Filter{Deleted: true})), []string{"job j4k2m9xq7", "memory"})
	r.clock.step(2 * time.Hour)
	is.NoErr(r.w.Put(Draft{Kind: api.KindMemory, Value: value(2)}))
	is.Equal(names(r.List(Filter{Deleted: true})), []string{"memory"})
	is.Equal(len(r.store.docs), 0)
}

// A deletion with a date far from now is kept from when it arrived.
func TestDeletionByAWrongClockIsKept(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	at := api.TimeOf(time.Date(1970, 1, 2, 0, 0, 0, 0, time.UTC))
	_, err := r.PutForeign(signed(t, 2, api.Document{Kind: api.KindNetwork, Inc: 1, Seq: 2, At: at, Deleted: true}))
	is.NoErr(err)
	r.clock.step(2 * time.Hour)
	is.NoErr(r.w.Put(Draft{Kind: api.KindMemory, Value: value(1)}))
	is.Equal(len(r.List(Filter{Deleted: true})), 2)
	old := signed(t, 2, api.Document{Kind: api.KindNetwork, Inc: 1, Seq: 1})
	got, err := r.PutForeign(old)
	is.NoErr(err)
	is.Equal(got, Known) // it does not come back to life
}

func TestListOrdersAndSelects(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	is.NoErr(r.w.Put(Draft{Kind: api.KindThunderbolt, Name: "2", Value: value(1)}, Draft{Kind: api.KindThunderbolt, Name: "1", Value: value(1)},
		Draft{Kind: api.KindMemory, Value: value(1)}))
	_, err := r.PutForeign(signed(t, 2, api.Document{Kind: api.KindMemory, Inc: 1, Seq: 1}))
	is.NoErr(err)
	all := r.List(Filter{})
	for i := 1; i < len(all); i++ {
		is.True(all[i-1].Key().Compare(all[i].Key()) < 0)
	}
	is.Equal(len(all), 4)
	is.Equal(names(r.List(Filter{Kinds: []api.Kind{api.KindThunderbolt, api.KindMemory}, Nodes: []api.NodeID{testNode(1)}})),
		[]string{"memory", "thunderbolt 1", "thunderbolt 2"})
	is.Equal(len(r.List(Filter{Kinds: []api.Kind{api.KindMemory}})), 2)
	is.Equal(len(r.List(Filter{Nodes: []api.NodeID{testNode(3)}})), 0)
}

func TestRecordJSONIsSharedAndBounded(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	in := signed(t, 2, api.Document{Kind: api.KindCondition, Name: "link_too_slow/<&>", Inc: api.MaxCounter, Seq: api.MaxCounter, Simulated: true,
		Unknown: map[string]api.Reason{"<x>": api.ReasonNeedsRoot}, Extra: map[string]json.RawMessage{"next": json.RawMessage("[1,2]")}})
	_, err := r.PutForeign(in)
	is.NoErr(err)
	rec, _ := r.Get(in.Key())
	raw, err := rec.JSON()
	is.NoErr(err)
	again, _ := rec.JSON()
	is.True(&raw[0] == &again[0])         // encoded once
	is.True(len(raw) <= rec.SizeBytes())  // bounded from above
	is.True(rec.SizeBytes() < len(raw)*2) // and not by much
	var back api.Document
	is.NoErr(json.Unmarshal(raw, &back))
	is.Equal(string(back.Extra["next"]), "[1,2]") // unknown fields pass through
	is.NoErr(back.Verify(testCluster, testKey(2).Public().(ed25519.PublicKey)))
}
