package ledger

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// TestRecordsByNodeKeepWhatHolds: what is held of each node is in order, and given again, the
// same records in the same slice, while nothing of that node has changed.
func TestRecordsByNodeKeepWhatHolds(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	own := func(kind api.Kind, name string, n int) {
		t.Helper()
		is.NoErr(r.w.Put(Draft{Kind: kind, Name: name, Value: value(n)}))
	}
	foreign := func(seq uint64, name string) {
		t.Helper()
		_, err := r.PutForeign(signed(t, 2, api.Document{Kind: api.KindThunderbolt, Name: name, Inc: 1, Seq: seq, Value: value(1)}))
		is.NoErr(err)
	}
	own(api.KindThunderbolt, "2", 1)
	own(api.KindMemory, "", 1)
	own(api.KindThunderbolt, "1", 1)
	foreign(1, "1")
	before := r.NodeRecords(nil)
	is.Equal(len(before), 2)
	is.True(before[0].Node < before[1].Node)
	of := func(all []NodeRecords, node api.NodeID) NodeRecords {
		for _, s := range all {
			if s.Node == node {
				return s
			}
		}
		return NodeRecords{}
	}
	isSame := func(a, b NodeRecords) bool { return a.IsSame(b) && &a.Records[0] == &b.Records[0] }
	self, other := r.Node(), testNode(2)
	is.Equal(names(of(before, self).Records), []string{"memory", "thunderbolt 1", "thunderbolt 2"})

	own(api.KindMemory, "", 2)
	after := r.NodeRecords(before)
	is.True(!of(after, self).IsSame(of(before, self)))
	is.True(isSame(of(after, other), of(before, other)))
	is.Equal(len(of(before, self).Records), 3)
	is.True(of(before, self).Records[0] != of(after, self).Records[0]) // what was given stays as it was

	is.NoErr(r.w.Delete(api.KindThunderbolt, "2"))
	is.Equal(names(of(r.NodeRecords(after), self).Records), []string{"memory", "thunderbolt 1", "thunderbolt 2"}) // a deletion is held

	is.NoErr(r.Forget(other))
	is.Equal(len(r.NodeRecords(after)), 1)
	foreign(1, "1")
	again := r.NodeRecords(after)
	is.Equal(len(again), 2)
	is.True(!of(again, other).IsSame(of(after, other))) // another record with the same version
}
