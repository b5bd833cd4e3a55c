package ledger

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// TestSharedIsOfItsVersion: whoever asks for a record's value gets that version's,
// as the type that he asks for, however often and after whomever.
func TestSharedIsOfItsVersion(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	put := func(p api.Pressure) *Record {
		t.Helper()
		is.NoErr(r.w.Put(Draft{Kind: api.KindMemory, Value: api.Memory{Pressure: p}}))
		record, ok := r.Get(r.key(api.KindMemory, ""))
		is.True(ok)
		return record
	}
	first := put(api.PressureNormal)
	for range 2 {
		m, err := Shared[api.Memory](first)
		is.NoErr(err)
		is.Equal(m.Pressure, api.PressureNormal)
		raw, err := Shared[map[string]json.RawMessage](first)
		is.NoErr(err)
		is.Equal(string(raw["pressure"]), `"normal"`)
	}
	second := put(api.PressureCritical)
	m, err := Shared[api.Memory](second)
	is.NoErr(err)
	is.Equal(m.Pressure, api.PressureCritical)
	if m, err = Shared[api.Memory](first); err != nil || m.Pressure != api.PressureNormal {
		t.Errorf("the first version says %q, %v", m.Pressure, err)
	}
	_, err = Shared[int](first)
	is.True(err != nil)
}

// TestSharedIsDecodedOnce: of several who ask at the same moment one decodes.
func TestSharedIsDecodedOnce(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	for n := range int64(50) {
		is.NoErr(r.w.Put(Draft{Kind: api.KindMemory, Value: api.Memory{AvailableBytes: &n}}))
		record, ok := r.Get(r.key(api.KindMemory, ""))
		is.True(ok)
		var readers sync.WaitGroup
		begin, got := make(chan struct{}), make([]*int64, 8)
		for i := range got {
			readers.Go(func() {
				<-begin
				if m, err := Shared[api.Memory](record); err == nil {
					got[i] = m.AvailableBytes
				}
			})
		}
		close(begin)
		readers.Wait()
		for _, one := range got {
			is.True(one != nil && *one == n && one == got[0])
		}
	}
}

// TestSettledIsWhatWasPut: a settled value is given to who asks for its type, until the
// document is signed anew; who asks for another gets what the record says, as all do where
// a text of the value was encoded as another.
func TestSettledIsWhatWasPut(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	put := func(value api.Memory) *Record {
		t.Helper()
		is.NoErr(r.w.Put(Draft{Kind: api.KindMemory, Value: value, Settled: true}))
		record, ok := r.Get(r.key(api.KindMemory, ""))
		is.True(ok)
		return record
	}
	first := api.Memory{AvailableBytes: new(int64(1))}
	record := put(first)
	m, err := Shared[api.Memory](record)
	is.NoErr(err)
	is.True(m.AvailableBytes == first.AvailableBytes) // the same, not another that was decoded
	raw, err := Shared[map[string]json.RawMessage](record)
	is.NoErr(err)
	is.Equal(string(raw["available_bytes"]), "1")
	is.Equal(string(record.Document().Value), `{"available_bytes":1}`)

	second := api.Memory{AvailableBytes: new(int64(2)), Pressure: "nor\xffmal"}
	m, err = Shared[api.Memory](put(second))
	is.NoErr(err)
	is.True(m.AvailableBytes != second.AvailableBytes && *m.AvailableBytes == 2)
	is.Equal(string(m.Pressure), "nor\ufffdmal")

	is.NoErr(r.w.Delete(api.KindMemory, ""))
	put(first)
	is.NoErr(r.w.Rejoin(otherCluster))
	record, _ = r.Get(r.key(api.KindMemory, ""))
	m, err = Shared[api.Memory](record)
	is.NoErr(err)
	is.True(m.AvailableBytes != first.AvailableBytes && *m.AvailableBytes == 1)
}
