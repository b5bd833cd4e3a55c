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

// TestShareIsWhatIsGiven: a writer's value is given to who asks for its type; who asks
// for another, or had asked before, gets what the record says.
func TestShareIsWhatIsGiven(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	put := func(n int64) (*Record, api.Memory) {
		t.Helper()
		value := api.Memory{AvailableBytes: &n}
		is.NoErr(r.w.Put(Draft{Kind: api.KindMemory, Value: value}))
		record, ok := r.Get(r.key(api.KindMemory, ""))
		is.True(ok)
		return record, value
	}
	record, value := put(1)
	Share(record, value)
	m, err := Shared[api.Memory](record)
	is.NoErr(err)
	is.True(m.AvailableBytes == value.AvailableBytes) // the same, not another that was decoded
	raw, err := Shared[map[string]json.RawMessage](record)
	is.NoErr(err)
	is.Equal(string(raw["available_bytes"]), "1")
	record, value = put(2)
	before, err := Shared[api.Memory](record)
	is.NoErr(err)
	Share(record, value)
	m, err = Shared[api.Memory](record)
	is.NoErr(err)
	is.True(m.AvailableBytes == before.AvailableBytes)
}
