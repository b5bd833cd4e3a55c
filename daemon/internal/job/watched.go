package job

import (
	"context"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

const (
	// unwatchedFor is how long an attached job goes on that nobody watches: a
	// client whose connection broke comes back within it.
	unwatchedFor = 10 * time.Second
	// unwatchedFirst is how long one goes on that was just submitted, or found after a
	// restart of the daemon.
	unwatchedFirst = time.Minute
)

// WatchedJobs knows which attached jobs of this node's people are watched by a
// client here. One that is not any more is ended: its terminal was closed.
type WatchedJobs struct {
	clock native.Clock
	jobs  *Jobs

	mu       sync.Mutex
	watchers map[api.JobID]int
	timers   map[api.JobID]native.Timer
}

// NewWatchedJobs makes an Attended that knows no job yet.
func NewWatchedJobs(jobs *Jobs) *WatchedJobs {
	return &WatchedJobs{clock: jobs.cfg.Clock, jobs: jobs, watchers: map[api.JobID]int{}, timers: map[api.JobID]native.Timer{}}
}

// Begin expects somebody to watch a job.
func (a *WatchedJobs) Begin(id api.JobID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.watchers[id] == 0 {
		a.armLocked(id, unwatchedFirst)
	}
}

// watched notes one that does, until done is called.
func (a *WatchedJobs) watched(id api.JobID) (done func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.watchers[id]++
	a.disarmLocked(id)
	return sync.OnceFunc(func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.watchers[id]--; a.watchers[id] == 0 {
			delete(a.watchers, id)
			a.armLocked(id, unwatchedFor)
		}
	})
}

// armLocked starts a job's timer anew.
func (a *WatchedJobs) armLocked(id api.JobID, after time.Duration) {
	a.disarmLocked(id)
	var timer native.Timer
	timer = a.clock.AfterFunc(after, func() {
		a.mu.Lock()
		isDue := a.timers[id] == timer
		if isDue {
			delete(a.timers, id)
		}
		a.mu.Unlock()
		if isDue {
			a.Gone(id)
		}
	})
	a.timers[id] = timer
}

// disarmLocked stops a job's timer.
func (a *WatchedJobs) disarmLocked(id api.JobID) {
	if timer := a.timers[id]; timer != nil {
		timer.Stop()
		delete(a.timers, id)
	}
}

// Gone ends an attached job that nobody watches. What is detached, or has ended, goes
// on as it is.
func (a *WatchedJobs) Gone(id api.JobID) {
	ctx, cancel := native.WithTimeout(context.Background(), a.clock, unwatchedFor, "the job's home")
	defer cancel()
	if err := a.jobs.ClientGone(ctx, id); err != nil {
		a.jobs.cfg.Log.Warn("a job whose client left could not be ended", "job", id, "error", err)
	}
}

// Expect expects the clients of attached jobs that a daemon before this one has taken.
func (a *WatchedJobs) Expect() {
	for _, record := range a.jobs.cfg.Ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindJob}}) {
		var one api.Job
		if record.Decode(&one) == nil && one.Principal.Node == a.jobs.cfg.Node && !one.Phase.Ended() {
			a.Begin(api.JobID(record.Key().Name))
		}
	}
}

// Watch has a client's watching count, where the job is one of the caller's own.
func (a *WatchedJobs) Watch(first api.JobGetResult, c Caller) (done func()) {
	var one api.Job
	if first.Job.Decode(&one) != nil || one.Principal != c.Principal || one.Phase.Ended() {
		return func() {}
	}
	return a.watched(api.JobID(first.Job.Name))
}

// InputLost ends a job of which an attempt cannot be given the input: it would take a
// part for the whole.
func (a *WatchedJobs) InputLost(id api.JobID, why *api.Error) {
	a.jobs.cfg.Log.Warn("a job's input is lost", "job", id, "error", why)
	a.Gone(id)
}
