package job

import (
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job/beat"
	"fulmen/daemon/internal/job/phase"
	"fulmen/native"
)

// awake ticks while there are jobs that have not ended, so that whoever is about to judge
// knows whether this daemon itself did not run for a while.
type awake struct {
	mu    sync.Mutex
	pulse beat.Pulse
	runs  bool
	away  time.Duration // in all
}

// tick is how often, and asleep what is taken for a time in which nothing ran: less than
// any deadline of another node's.
const (
	tick   = api.DefaultBeat
	asleep = 2 * tick
)

// away is for how long in all this daemon did not run, sleep included. Whoever asks first
// after such a time notices it.
func (j *Jobs) away() time.Duration {
	j.awake.mu.Lock()
	defer j.awake.mu.Unlock()
	if j.awake.runs {
		j.awake.away += j.awake.pulse.Tick(j.cfg.Clock.Boot(), asleep)
	}
	return j.awake.away
}

// stayAwake begins to tick, until no job is left.
func (j *Jobs) stayAwake() {
	j.awake.mu.Lock()
	defer j.awake.mu.Unlock()
	if j.awake.runs {
		return
	}
	j.awake.runs, j.awake.pulse = true, beat.Pulse{}
	j.awake.pulse.Tick(j.cfg.Clock.Boot(), asleep)
	j.tickLater()
}

func (j *Jobs) tickLater() {
	j.cfg.Clock.AfterFunc(tick, func() {
		j.away()
		if len(j.actors()) > 0 && j.ctx.Err() == nil {
			j.tickLater()
			return
		}
		j.awake.mu.Lock()
		j.awake.runs = false
		j.awake.mu.Unlock()
		if len(j.actors()) > 0 && j.ctx.Err() == nil { // it came meanwhile
			j.stayAwake()
		}
	})
}

// wake has the actor count anew what was counted against others while it did not run.
func (a *actor) wake() {
	total := a.j.away()
	slept, stalled := total-a.slept, a.stalled
	a.slept, a.stalled = total, 0
	if slept > 0 {
		a.countAnew(slept)
		a.event(phase.Idled{For: slept, Why: "slept or was stopped"})
	}
	if stalled > 0 {
		a.event(phase.Idled{For: stalled, Why: "could not write to its disk"})
	}
}

// countAnew puts off what others are given time for by a time in which this actor did
// nothing. Deadlines of the job itself go on: they are kept by whoever waits for it.
func (a *actor) countAnew(idle time.Duration) {
	clear(a.missed)
	now := a.j.cfg.Clock.Boot()
	for id, t := range a.timers {
		switch id.Kind {
		case phase.TimerRun, phase.TimerPlacing, phase.TimerBackoff, phase.TimerRenew, phase.TimerEnd:
		default:
			t.Stop()
			a.startTimer(id, max(0, t.due+idle-now))
		}
	}
}

// timer is one of the phase machine's, with when it is due, on Boot.
type timer struct {
	native.Timer
	due time.Duration
}

func (a *actor) startTimer(id phase.TimerID, after time.Duration) {
	due := a.j.cfg.Clock.Boot() + after
	a.timers[id] = timer{a.j.cfg.Clock.AfterFunc(after, func() { a.post(func() { a.fired(id, due) }) }), due}
}

// fired tells the phase machine of a timer that was due then, unless it was set to another time meanwhile.
func (a *actor) fired(id phase.TimerID, due time.Duration) {
	if t, runs := a.timers[id]; runs && t.due == due {
		delete(a.timers, id)
		a.event(phase.TimerFired{Timer: id})
	}
}
