package daemon

import (
	"context"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

const (
	// unattendedFor is how long an attached job goes on that nobody watches: a
	// client whose connection broke comes back within it.
	unattendedFor = 10 * time.Second
	// unattendedFirst is the same for one that was just submitted, or found after a
	// restart of the daemon.
	unattendedFirst = time.Minute
)

// attended knows which attached jobs of this node's people are watched by a
// client here. One that is not any more is ended: its terminal was closed.
type attended struct {
	clock native.Clock
	gone  func(api.JobID)

	mu       sync.Mutex
	watchers map[api.JobID]int
	timers   map[api.JobID]native.Timer
}

func newAttended(clock native.Clock, gone func(api.JobID)) *attended {
	return &attended{clock: clock, gone: gone, watchers: map[api.JobID]int{}, timers: map[api.JobID]native.Timer{}}
}

// begin expects somebody to watch a job.
func (a *attended) begin(id api.JobID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.watchers[id] == 0 {
		a.arm(id, unattendedFirst)
	}
}

// watched notes one that does, until done is called.
func (a *attended) watched(id api.JobID) (done func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.watchers[id]++
	a.disarm(id)
	return sync.OnceFunc(func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.watchers[id]--; a.watchers[id] == 0 {
			delete(a.watchers, id)
			a.arm(id, unattendedFor)
		}
	})
}

// arm starts a job's timer anew; the caller holds mu.
func (a *attended) arm(id api.JobID, after time.Duration) {
	a.disarm(id)
	var timer native.Timer
	timer = a.clock.AfterFunc(after, func() {
		a.mu.Lock()
		isDue := a.timers[id] == timer
		if isDue {
			delete(a.timers, id)
		}
		a.mu.Unlock()
		if isDue {
			a.gone(id)
		}
	})
	a.timers[id] = timer
}

// disarm stops it; the caller holds mu.
func (a *attended) disarm(id api.JobID) {
	if timer := a.timers[id]; timer != nil {
		timer.Stop()
		delete(a.timers, id)
	}
}

// clientGone ends an attached job that nobody watches. What is detached, or has
// ended, goes on as it is.
func (d *daemon) clientGone(id api.JobID) {
	ctx, cancel := native.WithTimeout(context.Background(), d.platform.Clock, unattendedFor, "the job's home")
	defer cancel()
	if err := d.jobs.ClientGone(ctx, id); err != nil {
		d.logs.part("job").Warn("a job whose client left could not be ended", "job", id, "error", err)
	}
}

// expectClients expects the clients of attached jobs that a daemon before this
// one has taken.
func (d *daemon) expectClients() {
	for _, record := range d.ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindJob}}) {
		var one api.Job
		if record.Decode(&one) == nil && one.Principal.Node == d.identity.Node && !one.Phase.Ended() {
			d.attended.begin(api.JobID(record.Key().Name))
		}
	}
}

// attend has a client's watching count, where the job is one of this node's people.
func (d *daemon) attend(first api.JobGetResult, c job.Caller) (done func()) {
	var one api.Job
	if first.Job.Decode(&one) != nil || one.Principal != c.Principal || one.Phase.Ended() {
		return func() {}
	}
	return d.attended.watched(api.JobID(first.Job.Name))
}
