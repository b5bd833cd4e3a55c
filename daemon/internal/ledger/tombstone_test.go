package ledger

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// What is left of a deleted document, for a month, is small, also once it was sent.
func TestADeletionIsSmall(t *testing.T) {
	const all, most = 500, 700 // bytes each: it takes 500
	is := is.New(t)
	r := newRig(t)
	used := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	name := func(i int) string { return fmt.Sprintf("%s/10.1.%d.%d", testNode(1), i/250, i%250) }
	before := used()
	for i := range all {
		is.NoErr(r.w.Put(Draft{Kind: api.KindReach, Name: name(i), Value: map[string]any{"rank": name(i), "n": make([]int, 1000)}}))
		is.NoErr(r.w.Delete(api.KindReach, name(i)))
	}
	for _, rec := range r.records {
		_, err := rec.JSON()
		is.NoErr(err)
	}
	each := (used() - before) / all
	t.Logf("%d bytes each", each)
	is.True(each < most)
	is.Equal(len(r.records), all)
}
