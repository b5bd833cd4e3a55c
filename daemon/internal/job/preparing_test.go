package job

import (
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// preparing is how the preparation of a machine goes.
type preparing struct {
	takes time.Duration
	fails bool
	lost  int // answers to the order to run that get lost
}

// prepareLocked has a process wait for the others once it is prepared. The caller holds
// the machine's lock.
func (p *process) prepareLocked(run func()) {
	m := p.at
	p.doc.Phase, p.run = api.RankPreparing, run
	m.notify(p)
	p.ends = time.AfterFunc(m.preparing.takes, func() {
		if m.preparing.fails {
			p.giveUp(api.ReasonPrepareFailed)
			return
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		p.doc.PreparedAt = api.TimeOf(time.Now())
		m.notify(p)
	})
}

// giveUp ends a process of which no program was started.
func (p *process) giveUp(why api.Reason) {
	p.at.mu.Lock()
	defer p.at.mu.Unlock()
	if p.doc.Phase == api.RankPreparing {
		p.doc.Phase, p.doc.Reason = api.RankExited, why
		p.stop()
		p.at.notify(p)
	}
}

// spawnPrepared answers peer.spawn.
func (m *machine) spawnPrepared(in api.PeerSpawnParams) (any, error) {
	if err := m.fenced(in.Rank.Job, in.Epoch); err != nil {
		return nil, err
	}
	m.mu.Lock()
	p := m.procs[in.Rank]
	if p == nil {
		m.mu.Unlock()
		return nil, api.NewError(api.ReasonNoSuchRank, in.Rank.String())
	}
	if p.doc.Phase == api.RankPreparing && !p.doc.PreparedAt.IsZero() {
		p.run()
	}
	lost := m.preparing.lost > 0
	m.preparing.lost--
	m.mu.Unlock()
	if lost {
		<-time.After(30 * time.Second) // the caller gives up before
	}
	return api.Empty{}, nil
}

// crash ends the daemon, and what it was preparing.
func (m *machine) crash() {
	m.kill()
	for _, p := range m.procs {
		p.giveUp(api.ReasonDaemonRestarted)
	}
}

// ran counts the programs that were started.
func (w *world) ran() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.starts
}

// spawns counts the orders to run a rank that was prepared.
func (w *world) spawns() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls["peer.spawn"]
}

// prepares is a request for a program whose nodes are prepared.
func prepares(on ...*machine) api.JobRequest {
	r := program(words("sleep", "20s"), on...)
	r.Program.Directory, r.Program.Prepare = "/srv/job", words("uv", "sync")
	return r
}

// No rank runs before all are prepared, however long that takes one of them, and
// the job says for whom the others wait.
func TestRanksRunOnceAllArePrepared(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
		b.preparing.takes = 10 * time.Minute // longer than a start may take
		b.preparing.lost = 1
		id := a.submits(prepares(a, b))
		a.until(id, api.JobStarting, time.Second)
		pass(9 * time.Minute)
		job := c.sees(id)
		is.Equal(job.Phase, api.JobStarting)
		is.Equal(job.WaitingFor, "rank 1 on "+w.nameOf(b.id)+" to be prepared")
		is.Equal(w.ran(), 0)
		is.Equal(w.spawns(), 0)
		job = a.until(id, api.JobRunning, 2*time.Minute)
		is.Equal(job.WaitingFor, "")
		is.Equal(w.ran(), 2)
		job = a.until(id, api.JobSucceeded, time.Minute)
		is.Equal(len(job.Attempts), 1)
		is.Equal(w.spawns(), 3) // one answer was lost
		is.Equal(w.ran(), 2)
	})
}

// A job that prepares nothing takes no further call, and no further document.
func TestOnlyAPreparationTakesMoreCalls(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		id := w.nodes[0].submits(program(words("sleep", "1s"), w.nodes...))
		w.nodes[0].until(id, api.JobSucceeded, time.Minute)
		is.Equal(w.spawns(), 0)
		r := prepares(w.nodes[:1]...) // and one rank has nobody to wait for
		w.nodes[0].until(w.nodes[0].submits(r), api.JobSucceeded, time.Minute)
		is.Equal(w.spawns(), 0)
	})
}

// What goes wrong while some are prepared ends the others, which have not run.
func TestAPreparationThatComesToNothing(t *testing.T) {
	for name, c := range map[string]struct {
		before  func(w *world)
		change  func(r *api.JobRequest)
		reason  api.Reason
		message string
	}{
		"it fails": {before: func(w *world) { w.nodes[1].preparing.fails = true }, reason: api.ReasonPrepareFailed},
		"it takes too long": {
			before: func(w *world) { w.nodes[1].preparing.takes = time.Hour },
			change: func(r *api.JobRequest) {
				within := 90.0
				r.Deadlines.PreparingS, r.MaxAttempts = &within, 1
			},
			reason: api.ReasonPreparingTimeout, message: "Not every rank was prepared within 90 s: it waited for rank 1 on ",
		},
		"the nodes differ then": {
			before: func(w *world) { w.nodes[0].prepared, w.nodes[1].prepared = "3.12", "3.13" },
			reason: api.ReasonPythonVersionsDiffer,
		},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, 2, func(t *testing.T, w *world) {
				is := is.New(t)
				a, b := w.nodes[0], w.nodes[1]
				b.preparing.takes = time.Minute
				c.before(w)
				r := prepares(a, b)
				if c.change != nil {
					c.change(&r)
				}
				id := a.submits(r)
				job := a.until(id, api.JobFailed, 5*time.Minute)
				is.Equal(job.Reason, c.reason)
				is.True(strings.HasPrefix(job.Message, c.message))
				is.Equal(w.ran(), 0)
				is.Equal(len(job.Attempts), 1)
				is.Equal(w.living(id), 0)
			})
		})
	}
}

// A home that is started again between the preparation and the start loses no job
// and runs nothing twice, whether its own rank was lost with it or not.
func TestAHomeIsStartedAgainBeforeTheRanksRun(t *testing.T) {
	for name, end := range map[string]func(m *machine){"with its rank": (*machine).crash, "without": (*machine).kill} {
		t.Run(name, func(t *testing.T) {
			in(t, 3, func(t *testing.T, w *world) {
				is := is.New(t)
				a, b := w.nodes[0], w.nodes[1]
				b.preparing.takes = time.Minute
				id := a.submits(prepares(a, b))
				a.until(id, api.JobStarting, time.Second)
				pass(58 * time.Second)
				end(a)
				pass(2500 * time.Millisecond) // b is prepared while its home is away
				is.Equal(w.ran(), 0)
				a.start()
				job := a.until(id, api.JobSucceeded, 5*time.Minute)
				attempts := map[string]int{"with its rank": 2, "without": 1}[name]
				is.Equal(len(job.Attempts), attempts)
				is.Equal(job.CountedAttempts, 0)
				is.Equal(w.ran(), 2)
			})
		})
	}
}

// A node that waits and hears nothing more ends its rank by the lease, unstarted.
func TestTheLeaseEndsAWait(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		a.preparing.takes = time.Hour
		id := a.submits(prepares(a, b))
		a.until(id, api.JobStarting, time.Second)
		pass(time.Minute)
		b.cut(w.nodes...)
		pass(2 * time.Minute)
		is.Equal(w.ran(), 0)
		is.Equal(w.living(id), 0) // here it was ended by its home, there by its lease
	})
}
