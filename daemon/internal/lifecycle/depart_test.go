package lifecycle

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/daemon/internal/rank"
)

// running are ranks that end as soon as they are to.
type running struct {
	live  []rank.Live
	mu    sync.Mutex
	ended map[api.RankRef]api.Reason
}

func (r *running) Live() []rank.Live { return r.live }

func (r *running) EndHere(ref api.RankRef, why api.Reason, _ time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended[ref] = why
	return nil
}

func (r *running) Ended(api.RankRef) <-chan struct{} {
	over := make(chan struct{})
	close(over)
	return over
}

// A Mac that sleeps ends its ranks, and waits for the ends of those of their jobs whose
// home it is, and for no other.
func TestDeparture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
		self := cluster.NewIdentity(key)
		l, w, err := ledger.Open(ledger.Options{Key: key, Cluster: "00112233445566778899aabbccddeeff", Counter: &peertest.Disk{}})
		is.NoErr(err)
		own, other, elsewhere := api.NewJobID(), api.NewJobID(), api.NewJobID()
		report := func(id api.JobID, phase api.JobPhase) {
			is.NoErr(w.Put(ledger.Draft{Kind: api.KindJob, Name: string(id), Value: api.Job{Principal: api.Principal{User: "anna", Node: self.Node}, Home: self.Node, Phase: phase}}))
		}
		report(own, api.JobRunning)
		report(elsewhere, api.JobRunning) // its ranks are on other Macs, and run on
		r := &running{ended: map[api.RankRef]api.Reason{}, live: []rank.Live{
			{Rank: api.RankRef{Job: own, Attempt: 1}, Home: self.Node},
			{Rank: api.RankRef{Job: other, Attempt: 1, Rank: 1}, Home: "0123456789abcdef"},
		}}
		d := Departure{Ranks: r, Ledger: l, Grace: func() time.Duration { return 0 }, Log: slog.New(slog.DiscardHandler)}
		gone := false
		go func() {
			d.EndRanks(t.Context(), api.SelfAsleep, "")
			gone = true
		}()
		synctest.Wait()
		is.Equal(r.ended, map[api.RankRef]api.Reason{r.live[0].Rank: api.ReasonNodeAsleep, r.live[1].Rank: api.ReasonNodeAsleep})
		is.True(!gone)
		report(own, api.JobEnding)
		synctest.Wait()
		is.True(!gone)
		report(own, api.JobFailed)
		synctest.Wait()
		is.True(gone)

		report(own, api.JobRunning)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		d.EndRanks(ctx, api.SelfRestarting, "")
		is.Equal(time.Since(began), time.Minute) // and no longer
		is.Equal(r.ended[r.live[0].Rank], api.ReasonRestarting)
	})
}
