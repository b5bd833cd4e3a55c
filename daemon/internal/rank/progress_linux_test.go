package rank

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/procsockets"
)

// A renewal tells the home what the rank's threads do and what it owes: a heartbeat from its
// first one on, or an answer, whichever is overdue for longer. Stacks are looked at only where
// the home asks.
func TestProgress(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t)
	var looks atomic.Int32
	m.config = func(cfg *Config) {
		cfg.Activity = procsockets.Processes{}.Activity
		cfg.Stacks = func(context.Context, int) (string, error) {
			looks.Add(1)
			return "Call graph:\n poll_cq", nil
		}
	}
	m.boot()
	sign := filepath.Join(m.folder, "sign")
	spec := m.spec(`[ -w "$FULMEN_HEARTBEAT" ] && echo "beats $FULMEN_HEARTBEAT"; while [ ! -e ` + sign + ` ]; do sleep 0.1; done; touch "$FULMEN_HEARTBEAT"; exec sleep 60`)
	spec.Deadlines.HeartbeatS = new(0.5)
	spec.Program.Stdin = api.StdinNone
	p := m.params(spec)
	m.mustStart(p)
	m.until(p.Rank, api.RankRunning)
	answer := m.ranks.Owe(p.Rank, api.DebtRequest)
	m.ranks.Owe(api.RankRef{Job: m.job, Attempt: 9}, api.DebtRequest)() // of none that is here
	renewed := func(stacks ...int) (one api.RankProgress) {
		var result api.PeerRenewResult
		is.NoErr(m.call("peer.renew", api.PeerRenewParams{Job: m.job, Attempt: 1, Epoch: 1, LeaseS: 60, Stacks: stacks}, &result))
		if len(result.Progress) == 1 {
			one = result.Progress[0]
		}
		return one
	}
	eventually(t, "word of it", func() bool { return renewed().Activity != "" })
	one := renewed(1) // of another rank
	is.Equal(one.Activity, api.RankIdle)
	is.Equal(one.Owes, api.DebtRequest) // the older one
	is.True(one.OwesS > 0 && one.AgeS >= 0 && one.AgeS < 60)
	is.Equal(one.Unknown["gpu"], api.ReasonNotSupportedByPlatform)
	is.True(strings.HasPrefix(m.output(p.Rank), "beats "))
	is.Equal(looks.Load(), int32(0))
	is.NoErr(os.WriteFile(sign, nil, 0o644))
	answer()
	eventually(t, "a heartbeat that is owed", func() bool {
		now := renewed(0)
		return now.Owes == api.DebtHeartbeat && now.OwesS > 0
	})
	eventually(t, "a look at the stacks", func() bool { renewed(0); return looks.Load() > 0 })
}
