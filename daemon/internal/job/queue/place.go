package queue

import (
	"cmp"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/placement"
)

// LineOf is what jobs that wait leave to those behind them.
func LineOf(before []Job) (l placement.Line) {
	for _, j := range before {
		if len(j.Wanted) > 0 {
			l.Reserved = append(l.Reserved, placement.Reserved{Job: j.ID, Principal: j.Principal, Grants: j.Wanted})
		}
	}
	return l
}

// Found is what became of looking for a place.
type Found struct {
	// Plan is where the job may run now; nil where it waits.
	Plan *api.Plan
	// Wanted is what it waits for then; nil where it has no place on the cluster at all.
	Wanted *api.Wanted
}

// maxVictims bounds how many jobs are looked at that could be ended.
const maxVictims = 32

// Find looks for a job's place by plan, which gives nil where there is none beside a line.
// Others are those that run, before the order of those that wait. A place that is free
// is better than one for which others have to end, of these the fewest and least, and that
// better than one for which it waits until they end by themselves: all of them do, if there is such a place.
func Find(self Job, before, others []Job, plan func(placement.Line) (*api.Plan, error)) (Found, error) {
	reserved := LineOf(before).Reserved
	without := func(ended []Job) placement.Line {
		return placement.Line{Reserved: reserved, Without: func(id api.JobID) bool { return slices.ContainsFunc(ended, func(j Job) bool { return j.ID == id }) }}
	}
	if p, err := plan(placement.Line{Reserved: reserved}); p != nil || err != nil {
		return Found{Plan: p}, err
	}
	victims := slices.DeleteFunc(slices.Clone(others), func(j Job) bool { return !Takes(self, j) })
	slices.SortFunc(victims, func(a, b Job) int { // the least priority first, then who has run least
		return cmp.Or(cmp.Compare(a.Bounded, b.Bounded), cmp.Compare(a.Priority, b.Priority), b.Since.Compare(a.Since.Time), cmp.Compare(a.ID, b.ID))
	})
	victims = victims[:min(len(victims), maxVictims)]
	if len(victims) > 0 {
		if p, err := plan(without(victims)); p != nil || err != nil {
			return preempt(victims, p, err, func(v []Job) (*api.Plan, error) { return plan(without(v)) })
		}
	}
	ending := slices.DeleteFunc(slices.Clone(others), func(j Job) bool { return j.Kept })
	for _, line := range []placement.Line{without(ending), {Reserved: reserved, Without: func(api.JobID) bool { return true }}} {
		if p, err := plan(line); p != nil || err != nil {
			return waiting(p), err
		}
	}
	return Found{}, nil
}

func waiting(p *api.Plan) Found {
	if p == nil {
		return Found{}
	}
	return Found{Wanted: new(api.WantedOf(*p))}
}

// preempt spares the jobs that need not end, the highest priority first.
func preempt(victims []Job, p *api.Plan, err error, plan func([]Job) (*api.Plan, error)) (Found, error) {
	if err != nil {
		return Found{}, err
	}
	for i := len(victims) - 1; i >= 0 && len(victims) > 1; i-- {
		fewer := slices.Delete(slices.Clone(victims), i, i+1)
		spared, err := plan(fewer)
		if err != nil {
			return Found{}, err
		}
		if spared != nil {
			victims, p = fewer, spared
		}
	}
	w := api.WantedOf(*p)
	for _, v := range victims {
		w.Preempts = append(w.Preempts, v.ID)
	}
	return Found{Wanted: &w}, nil
}
