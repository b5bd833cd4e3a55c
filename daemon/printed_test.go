package daemon

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// That output is lost holds while it is, and until the disk has taken all of a rank
// that was started after.
func TestLostOutputIsACondition(t *testing.T) {
	is := is.New(t)
	now, told := time.Unix(0, 0), ""
	p := &printed{now: func() time.Time { return now },
		raise: func(code api.Reason, detail string) { told = string(code) + " " + detail },
		clear: func(...api.Reason) { told = "" }}
	job := api.NewJobID()
	ends := func(spawned int64, bytes int64) {
		p.ended(api.Rank{SpawnedAt: api.TimeOf(time.Unix(spawned, 0)), Output: &api.OutputSize{ErrBytes: bytes}})
	}
	now = time.Unix(10, 0)
	p.lost(api.RankRef{Job: job, Rank: 3}, "no space left on device")
	is.Equal(told, "output_lost rank 3 of job "+string(job)+": no space left on device")
	ends(9, 100) // it was there before
	ends(11, 0)  // it proves nothing
	is.True(told != "")
	now = time.Unix(20, 0)
	p.lost(api.RankRef{Job: job, Rank: 3}, "no space left on device") // it goes on
	ends(12, 100)
	is.True(told != "")
	p.ended(api.Rank{SpawnedAt: api.TimeOf(time.Unix(21, 0))}) // its output is not known
	is.True(told != "")
	ends(21, 100)
	is.Equal(told, "")
}
