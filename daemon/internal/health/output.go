package health

import (
	"fmt"
	"sync"
	"time"

	"fulmen/daemon/api"
)

// Output tells that the disk does not take what ranks print, until it has taken all
// that one printed which was started later.
type Output struct {
	own Own
	now func() time.Time

	mu   sync.Mutex
	last time.Time // when something was lost last; zero where nothing is
}

// NewOutput tells it of this node.
func NewOutput(own Own, now func() time.Time) *Output { return &Output{own: own, now: now} }

// Lost hears why the disk does not take what a rank prints.
func (p *Output) Lost(rank api.RankRef, problem string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = p.now()
	p.own.Raise(api.ReasonOutputLost, fmt.Sprintf("rank %d of job %s: %s", rank.Rank, rank.Job, problem))
}

// Ended hears of every rank of this node that has ended. Of one that lost something
// that was told before.
func (p *Output) Ended(rank api.Rank) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o := rank.Output; p.last.IsZero() || o == nil || o.OutBytes+o.ErrBytes == 0 || !rank.SpawnedAt.After(p.last) {
		return
	}
	p.last = time.Time{}
	p.own.Clear(api.ReasonOutputLost)
}
