package health

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// That output is lost holds while it is, and until the disk has taken all of a rank
// that was started after.
func TestLostOutputIsACondition(t *testing.T) {
	is := is.New(t)
	now := time.Unix(0, 0)
	h, _, _ := rig()
	p := NewOutput(logging(h, slog.New(slog.DiscardHandler)), func() time.Time { return now })
	holds := func() bool { return len(h.Shown()) == 1 }
	job := api.NewJobID()
	ends := func(spawned int64, bytes int64) {
		p.Ended(api.Rank{SpawnedAt: api.TimeOf(time.Unix(spawned, 0)), Output: &api.OutputSize{ErrBytes: bytes}})
	}
	now = time.Unix(10, 0)
	p.Lost(api.RankRef{Job: job, Rank: 3}, "no space left on device")
	is.True(holds() && h.Shown()[0].Code == api.ReasonOutputLost)
	is.True(strings.Contains(h.Shown()[0].Text, "rank 3 of job "+string(job)+": no space left on device"))
	ends(9, 100) // it was there before
	ends(11, 0)  // it proves nothing
	is.True(holds())
	now = time.Unix(20, 0)
	p.Lost(api.RankRef{Job: job, Rank: 3}, "no space left on device") // it goes on
	ends(12, 100)
	is.True(holds())
	p.Ended(api.Rank{SpawnedAt: api.TimeOf(time.Unix(21, 0))}) // its output is not known
	is.True(holds())
	p.Ended(api.Rank{SpawnedAt: api.TimeOf(time.Unix(21, 0)), Output: &api.OutputSize{OutBytes: 50, ErrBytes: 50}})
	is.True(!holds())
}
