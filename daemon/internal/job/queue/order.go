package queue

import (
	"cmp"
	"slices"
	"time"

	"fulmen/daemon/api"
)

// Job is a job as the line knows it.
type Job struct {
	// ID is the job, Name what screens show.
	ID   api.JobID
	Name string
	// Principal is whose it is.
	Principal api.Principal
	// Priority is what its spec says, and Bounded what of it counts against other people's jobs.
	Priority, Bounded int
	// Since is since when it waits; of one that runs, since when it runs.
	Since api.Time
	// Preemptible says that it may be ended for one of higher priority.
	Preemptible bool
	// Preempted is how often it was ended so in a row.
	Preempted int
	// Kept says that it does not end by itself.
	Kept bool
	// YieldsWhenIdle says that it may be ended for any while it is idle, and Idle that it is.
	YieldsWhenIdle, Idle bool
	// Wanted is what it waits for; none of one that runs.
	Wanted []api.WantedGrant
	// Preempts are the jobs that are to end for it.
	Preempts []api.JobID
	// Nodes are those where it runs, or of Wanted.
	Nodes []api.NodeID
	// Counts is what of its priority counts on nodes against other people's jobs; nil = Bounded.
	Counts func(on []api.NodeID) int
}

// at is when a job that waits with a priority had begun to with 0.
func (j Job) at(priority int) time.Time {
	return j.Since.Add(-time.Duration(priority) * api.PriorityAge)
}

// compare orders jobs by one of their priorities.
func compare(a, b Job, priority func(Job) int) int {
	return cmp.Or(a.at(priority(a)).Compare(b.at(priority(b))), cmp.Compare(a.ID, b.ID))
}

// Order puts jobs that wait in their order, the first first.
func Order(jobs []Job) []Job {
	all := slices.SortedFunc(slices.Values(jobs), func(a, b Job) int { return compare(a, b, func(j Job) int { return j.Bounded }) })
	own := map[api.Principal][]Job{}
	for _, j := range all {
		own[j.Principal] = append(own[j.Principal], j)
	}
	for _, of := range own {
		slices.SortFunc(of, Own)
	}
	for i, j := range all {
		all[i] = own[j.Principal][0]
		own[j.Principal] = own[j.Principal][1:]
	}
	return all
}

// Own orders jobs of one person.
func Own(a, b Job) int { return compare(a, b, func(j Job) int { return j.Priority }) }

// spared is how much more priority it takes to end a job for every time that it was ended so:
// it is the last time, at the latest, when none is high enough.
const spared = 25

// Takes reports whether a job that waits may have one ended that runs. Age has no part in
// it: it is not proven, and ends nobody's ranks.
func Takes(waits, runs Job) bool {
	if runs.YieldsWhenIdle && runs.Idle && !waits.YieldsWhenIdle { // else two would take turns
		return true
	}
	above := waits.Bounded - runs.Bounded
	switch {
	case waits.Principal == runs.Principal:
		above = waits.Priority - runs.Priority
	case waits.Counts != nil:
		above = waits.Counts(runs.Nodes) - runs.Bounded
	}
	return runs.Preemptible && above > spared*runs.Preempted
}

// Before are the jobs of an order that come before one; all where it is not among them.
func Before(order []Job, id api.JobID) []Job {
	if i := slices.IndexFunc(order, func(j Job) bool { return j.ID == id }); i >= 0 {
		return order[:i]
	}
	return order
}
