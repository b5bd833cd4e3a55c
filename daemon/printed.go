package daemon

import (
	"fmt"
	"sync"
	"time"

	"fulmen/daemon/api"
)

// printed tells that the disk does not take what ranks print, until it has taken all
// that one printed which was started later.
type printed struct {
	raise func(code api.Reason, detail string)
	clear func(codes ...api.Reason)
	now   func() time.Time

	mu   sync.Mutex
	last time.Time // when something was lost last; zero where nothing is
}

// lost hears why the disk does not take what a rank prints.
func (p *printed) lost(rank api.RankRef, problem string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = p.now()
	p.raise(api.ReasonOutputLost, fmt.Sprintf("rank %d of job %s: %s", rank.Rank, rank.Job, problem))
}

// ended hears of every rank of this node that has ended. Of one that lost something
// that was told before.
func (p *printed) ended(rank api.Rank) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o := rank.Output; p.last.IsZero() || o == nil || o.OutBytes+o.ErrBytes == 0 || !rank.SpawnedAt.After(p.last) {
		return
	}
	p.last = time.Time{}
	p.clear(api.ReasonOutputLost)
}
