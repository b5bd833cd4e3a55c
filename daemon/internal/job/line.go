package job

import (
	"encoding/json"
	"slices"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job/phase"
	"fulmen/daemon/internal/job/queue"
)

// line is the jobs of this home that look for a place, by what they want. Of those
// that want the same only the first looks: where it finds none, none does, and where
// it finds one, the next would choose the same before the first one's grants are
// seen. So a thousand jobs that wait cost no more than one, and the first comes first.
type line struct {
	mu sync.Mutex
	by map[string][]waiter // by want, each of one person's jobs in their order
}

type waiter struct {
	actor *actor
	queue.Job
}

// join puts an actor in its place in the line of its want.
func (l *line) join(a *actor, want string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := waiter{a, queued(a.id, a.spec, a.state.Job)}
	all := l.by[want]
	i, _ := slices.BinarySearchFunc(all, w, func(x, y waiter) int { return queue.Own(x.Job, y.Job) })
	if i == 0 && len(all) > 0 { // it is not the first any more, and wants nothing meanwhile
		all[0].actor.post(all[0].actor.turn)
	}
	l.by[want] = slices.Insert(all, i, w)
}

// leave takes an actor out, and tells the next whose turn it is.
func (l *line) leave(a *actor, want string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.by[want]
	i := slices.IndexFunc(all, func(w waiter) bool { return w.actor == a })
	if i < 0 {
		return
	}
	all = slices.Delete(all, i, i+1)
	l.by[want] = all
	switch {
	case len(all) == 0:
		delete(l.by, want)
	case i == 0:
		all[0].actor.post(all[0].actor.turn)
	}
}

// isFirst reports whether it is an actor's turn.
func (l *line) isFirst(a *actor, want string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.by[want]
	return len(all) > 0 && all[0].actor == a
}

// firsts are the actors whose turn it is.
func (l *line) firsts() []*actor {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []*actor
	for _, all := range l.by {
		out = append(out, all[0].actor)
	}
	return out
}

// turn is when an actor is the first of its line now.
func (a *actor) turn() {
	if a.begun {
		a.planIn(planTurn)
	}
}

// behind is for what a job waits that is not the first of its line.
func behind() phase.Unplaceable {
	return phase.Unplaceable{Cause: phase.Cause{Reason: api.ReasonWaitingInLine,
		Message: "Jobs that want the same go before it and wait.", WaitingFor: "jobs that go before it"}}
}

// wantOf is what a job wants of a place: all that a plan depends on.
func wantOf(spec api.JobSpec, mlx map[api.NodeID]api.ProgramMLX) string {
	raw, err := json.Marshal([]any{spec.Placement, spec.Principal, spec.AllowMixed, spec.Program.Builtin != "", mlx, spec.Model, spec.YieldWhenIdle})
	if err != nil {
		return string(spec.Job) // nobody wants the same
	}
	return string(raw)
}

// lineUp puts the actor in line, and reports whether it is its turn.
func (a *actor) lineUp() bool {
	if a.want == "" {
		a.want = wantOf(a.spec, a.mlx)
		a.j.line.join(a, a.want)
	}
	return a.j.line.isFirst(a, a.want)
}

// stepOut takes the actor out of line.
func (a *actor) stepOut() {
	if a.want != "" {
		a.j.line.leave(a, a.want)
		a.want = ""
	}
}
