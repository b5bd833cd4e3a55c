package job

import (
	"context"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/placement"
)

// Of jobs that want the same the one that was submitted first looks for a place, of one
// moment the one of the lower id; when it leaves, the next is told, and nobody else.
func TestWhoIsFirstInLine(t *testing.T) {
	is := is.New(t)
	l := line{by: map[string][]waiter{}}
	waits := func(id api.JobID, submitted int64, want string) *actor {
		a := &actor{id: id, busy: true} // it only notes what it is told
		a.spec.SubmittedAt = api.TimeOf(time.Unix(submitted, 0))
		l.join(a, want)
		return a
	}
	late, twin, early := waits("c", 9, "two"), waits("b", 5, "two"), waits("a", 5, "two")
	other := waits("d", 1, "four")
	is.Equal(len(l.firsts()), 2)
	is.True(l.isFirst(early, "two") && l.isFirst(other, "four"))
	is.True(!l.isFirst(twin, "two") && !l.isFirst(late, "two") && !l.isFirst(early, "four") && !l.isFirst(early, "none"))

	is.Equal(len(late.queue)+len(twin.queue), 2) // each was the first
	late.queue, twin.queue = nil, nil

	l.leave(twin, "two") // from the middle
	is.Equal(len(early.queue)+len(late.queue), 0)
	l.leave(twin, "two") // it is not there any more
	l.leave(other, "two")
	is.True(l.isFirst(early, "two"))
	l.leave(early, "two")
	is.Equal(len(late.queue), 1) // its turn
	is.Equal(len(early.queue)+len(twin.queue)+len(other.queue), 0)
	is.True(l.isFirst(late, "two"))
	l.leave(late, "two")
	is.Equal(len(l.by), 1) // nobody wants two any more
}

// A job steps into one line, whatever it is asked, and leaves it once.
func TestAJobStandsInOneLine(t *testing.T) {
	is := is.New(t)
	j := &Jobs{line: line{by: map[string][]waiter{}}}
	spec := api.JobSpec{Principal: api.Principal{User: "ada", Node: nodeOf("a")}}
	first, second := &actor{j: j, id: "a", spec: spec, busy: true}, &actor{j: j, id: "b", spec: spec, busy: true}
	for range 2 {
		is.True(first.lineUp())
	}
	is.True(!second.lineUp())
	first.stepOut()
	first.stepOut()
	is.Equal(len(second.queue), 1) // its turn
	is.True(second.lineUp())
	is.True(first.lineUp()) // its place is by when it was submitted
}
func (p planner) Explain(ctx context.Context, spec api.JobSpec, mlx map[api.NodeID]api.ProgramMLX, models map[api.NodeID]api.FoundModel, line placement.Line) (api.JobPlanResult, error) {
	plan, err := p.Plan(ctx, spec, mlx, models, line)
	if err != nil {
		return api.JobPlanResult{Remedies: []api.Cause{api.AsError(err).Cause()}}, nil
	}
	return api.JobPlanResult{Plan: &plan}, nil
}
