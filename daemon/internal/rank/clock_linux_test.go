package rank

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native"
)

// The wall clock is set while a rank runs: it lives as long as it is renewed, also
// over a restart of the daemon, and no longer.
func TestClockSteps(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]time.Duration{"back": -365 * 24 * time.Hour, "forward": 365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			m := newMac(t)
			var set atomic.Int64
			m.clock = native.ClockFrom(func() time.Time { return time.Now().Add(time.Duration(set.Load())) }, m.clock.Boot)
			m.boot()
			p := m.params(m.spec(`exec sleep 1000`))
			m.mustStart(p)
			before := m.until(p.Rank, api.RankRunning)
			renew := func(lease time.Duration) {
				t.Helper()
				var result api.PeerRenewResult
				is.NoErr(m.call("peer.renew", api.PeerRenewParams{Job: m.job, Attempt: 1, Epoch: 1, LeaseS: lease.Seconds()}, &result))
				is.Equal(result.Ranks, []int{0})
			}
			set.Store(int64(step))
			renew(time.Minute)
			m.boot()
			set.Store(0)
			is.Equal(m.until(p.Rank, api.RankRunning).PID, before.PID)
			renew(time.Second)
			set.Store(int64(step))
			doc := m.until(p.Rank, api.RankExited)
			is.Equal(doc.Reason, api.ReasonLeaseExpired)
			m.free(p.Rank)
		})
	}
}
