package rank

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// A rank whose job's spec was signed anew takes orders by the new one alone, also from
// a daemon that was started again.
func TestSpecSignedAnew(t *testing.T) {
	t.Parallel()
	for name, restarts := range map[string]bool{"at once": false, "after a restart": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			m := newMac(t).boot()
			spec := m.spec("sleep 1000")
			p := m.params(spec)
			m.mustStart(p)
			m.until(p.Rank, api.RankRunning)
			before := m.warrant
			spec.Roster = []string{"another"}
			sha256 := m.params(spec).Plan.SpecSHA256
			renew := api.PeerRenewParams{Job: m.job, Attempt: 1, Epoch: 1, LeaseS: 30}
			is.True(isReason(m.call("peer.renew", renew, nil), api.ReasonSpecAltered))

			m.ranks.Bind(m.job, sha256)
			if restarts {
				m.boot()
			}
			var renewed api.PeerRenewResult
			is.NoErr(m.call("peer.renew", renew, &renewed))
			is.Equal(renewed.Ranks, []int{0})
			old := renew
			old.Warrant = before
			is.True(isReason(m.call("peer.renew", old, nil), api.ReasonSpecAltered))
			end := api.PeerEndParams{Job: m.job, Attempt: 1, Epoch: 1, Reason: api.ReasonStopped}
			was := end
			was.Warrant = before
			is.True(isReason(m.call("peer.end", was, nil), api.ReasonSpecAltered))
			m.mustEnd(end)
			is.Equal(m.until(p.Rank, api.RankExited).SpecSHA256, sha256)
		})
	}
}
