package queue

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/placement"
	"fulmen/native/nativetest/testkit"
)

// simulation is a cluster on virtual time in which jobs are submitted, wait, run and end.
// Every home decides by [Find], on what it has read of the others, which may be old.
type simulation struct {
	t    testing.TB
	rng  *rand.Rand
	now  int
	lag  int // by how many ticks what others know may be old
	macs []string
	jobs []*simJob
	seen struct {
		order, runs []Job
		held        map[string]api.JobID
	}
}

const (
	tickS     = 10  // of virtual seconds
	longest   = 200 // ticks that a job runs
	graceful  = 3   // ticks from the order to end to the end
	slack     = 5   // ticks that a home may take, beside what it knows late
	idleAfter = 30
)

type simJob struct {
	Job
	ranks    int
	length   int // ticks; of a kept job it is never over
	after    *simJob
	submit   int
	wanted   *api.Wanted
	on       []string // where it runs
	until    int
	ending   int // when its ranks will have ended; 0 while it is not to end
	ended    bool
	arrived  int // when it began to wait
	ahead    map[turn]bool
	starts   int
	usedAt   int
	known    []version
	preempts int
}

// turn is one time that a job waits.
type turn struct {
	job   api.JobID
	since api.Time
}

// version is what others know from a tick on.
type version struct {
	at     int
	waits  bool
	runs   bool
	wanted []api.WantedGrant
	preemp []api.JobID
	job    Job
	on     []string
}

func (s *simulation) time(tick int) api.Time {
	return api.TimeOf(time.Unix(1_700_000_000+int64(tick)*tickS, 0))
}

// write publishes what a job is now.
func (s *simulation) write(j *simJob) {
	v := version{at: s.now, waits: s.waits(j), runs: j.on != nil, job: j.Job, on: slices.Clone(j.on)}
	if s.lag > 0 {
		v.at += s.rng.IntN(s.lag + 1)
		if n := len(j.known); n > 0 {
			v.at = max(v.at, j.known[n-1].at) // documents of one writer come in order
		}
	}
	if v.waits && j.wanted != nil {
		v.wanted, v.preemp = j.wanted.Grants, j.wanted.Preempts
	}
	j.known = append(j.known, v)
	s.seen.held = nil
}

// read is what others know of a job; its own home knows it as it is.
func (s *simulation) read(j *simJob) (last version) {
	for _, v := range j.known {
		if v.at <= s.now {
			last = v
		}
	}
	for len(j.known) > 1 && j.known[1].at <= s.now {
		j.known = j.known[1:]
	}
	return last
}

func (s *simulation) waits(j *simJob) bool {
	return s.now >= j.submit && !j.ended && j.on == nil && (j.after == nil || j.after.ended)
}

// line is what is known of those that wait, in their order, and of those that run. It is
// read again where something may have changed.
func (s *simulation) line() (order, runs []Job, held map[string]api.JobID) {
	if s.seen.held != nil {
		return s.seen.order, s.seen.runs, s.seen.held
	}
	held = map[string]api.JobID{}
	for _, j := range s.jobs {
		if j.ended && s.now > j.until+10 || s.now < j.submit {
			continue
		}
		v := s.read(j)
		switch {
		case v.waits:
			v.job.Wanted = v.wanted
			order = append(order, v.job)
		case v.runs:
			v.job.Idle = j.Kept && s.now-j.usedAt >= idleAfter
			runs = append(runs, v.job)
			for _, mac := range v.on {
				held[mac] = j.ID
			}
		}
	}
	s.seen.order, s.seen.runs, s.seen.held = Order(order), runs, held
	return s.seen.order, s.seen.runs, s.seen.held
}

// look is a home that looks for a place.
func (s *simulation) look(j *simJob) {
	order, runs, held := s.line()
	if s.lag > 0 { // its own home knows it as it is
		others := slices.DeleteFunc(slices.Clone(order), func(o Job) bool { return o.ID == j.ID })
		order = Order(append(others, j.Job))
	}
	found, err := Find(j.Job, Before(order, j.ID), runs, func(v placement.Line) (*api.Plan, error) {
		var plan api.Plan
		for _, mac := range s.macs {
			by, isHeld := held[mac]
			isReserved := slices.ContainsFunc(v.Reserved, func(r placement.Reserved) bool {
				return slices.ContainsFunc(r.Grants, func(g api.WantedGrant) bool { return string(g.Node) == mac })
			})
			if !isReserved && (!isHeld || v.Without != nil && v.Without(by)) && len(plan.Ranks) < j.ranks {
				plan.Ranks = append(plan.Ranks, api.PlanRank{Rank: len(plan.Ranks), Node: api.NodeID(mac)})
			}
		}
		if len(plan.Ranks) < j.ranks {
			return nil, nil
		}
		return &plan, nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	if found.Plan == nil {
		if !reflect.DeepEqual(found.Wanted, j.wanted) {
			j.wanted = found.Wanted
			s.write(j)
		}
		return
	}
	j.wanted = new(api.WantedOf(*found.Plan)) // as of an attempt that asks for its grants
	s.write(j)
	var on []string
	for _, r := range found.Plan.Ranks {
		if s.holder(string(r.Node)) != nil {
			return // all or nothing: it holds no part while it waits
		}
		on = append(on, string(r.Node))
	}
	s.begin(j, on)
}

func (s *simulation) holder(mac string) *simJob {
	i := slices.IndexFunc(s.jobs, func(j *simJob) bool { return slices.Contains(j.on, mac) })
	if i < 0 {
		return nil
	}
	return s.jobs[i]
}

func (s *simulation) begin(j *simJob, on []string) {
	if s.lag == 0 { // then it knows all: nobody before it wants any of these
		order, _, _ := s.line()
		for _, w := range Before(order, j.ID) {
			for _, g := range w.Wanted {
				if slices.Contains(on, string(g.Node)) {
					s.t.Fatalf("%d: %s takes %s, which %s before it wants", s.now, j.ID, g.Node, w.ID)
				}
			}
		}
	}
	bound := 2 * (1 + len(j.ahead)) * (longest + graceful + 2*s.lag + slack)
	if s.now-j.arrived > bound {
		s.t.Fatalf("%d: %s has waited for %d ticks behind %d others, more than %d", s.now, j.ID, s.now-j.arrived, len(j.ahead), bound)
	}
	j.on, j.wanted, j.until, j.usedAt = on, nil, s.now+j.length, s.now
	j.starts++
	j.Since = s.time(s.now)
	s.write(j)
}

// end frees what a job had; one that was ended for another waits again.
func (s *simulation) end(j *simJob, preempted bool) {
	j.on, j.ending = nil, 0
	j.ended = !preempted
	if preempted {
		s.arrived(j)
	}
	s.write(j)
}

// arrived is when a job begins to wait.
func (s *simulation) arrived(j *simJob) {
	j.Since, j.arrived, j.ahead = s.time(s.now), s.now, map[turn]bool{}
}

// yields has a home end its job for one that may have that done.
func (s *simulation) yields(j *simJob) {
	if j.on == nil || j.ending > 0 {
		return
	}
	j.Idle = j.Kept && s.now-j.usedAt >= idleAfter
	for _, w := range s.jobs {
		if v := s.read(w); v.waits && slices.Contains(v.preemp, j.ID) && Takes(v.job, j.Job) {
			if j.Preempted++; j.Kept {
				j.Preempted = 0
			}
			j.preempts++
			j.ending = s.now + 1 + s.rng.IntN(graceful)
			return
		}
	}
}

func (s *simulation) step() {
	for _, j := range s.jobs {
		if j.ended {
			continue
		}
		if s.waits(j) && j.ahead == nil {
			s.arrived(j)
			j.Since = s.time(j.submit)
			s.write(j)
		}
		switch {
		case j.on == nil:
		case j.ending > 0 && s.now >= j.ending:
			s.end(j, true)
		case j.ending == 0 && s.now >= j.until:
			s.end(j, false)
		case j.Kept && s.rng.IntN(400) == 0:
			j.usedAt = s.now
		}
		s.yields(j)
	}
	order, _, _ := s.line()
	for i, o := range order {
		j := s.jobs[slices.IndexFunc(s.jobs, func(j *simJob) bool { return j.ID == o.ID })]
		for _, b := range order[:i] {
			if j.ahead != nil {
				j.ahead[turn{b.ID, b.Since}] = true
			}
		}
	}
	for _, i := range s.rng.Perm(len(s.jobs)) {
		if j := s.jobs[i]; s.waits(j) && j.ahead != nil && s.rng.IntN(3) > 0 {
			s.look(j)
		}
	}
	s.now++
	s.seen.held = nil
}

func simulate(t testing.TB, seed testkit.Seed) (preempted int) {
	s := &simulation{t: t, rng: seed.Source(5)}
	if s.rng.IntN(2) == 0 {
		s.lag = 1 + s.rng.IntN(6)
	}
	for i := range 2 + s.rng.IntN(5) {
		s.macs = append(s.macs, fmt.Sprint("mac", i))
	}
	people := []api.Principal{{User: "ada", Node: "a"}, {User: "bob", Node: "b"}, {User: "eve", Node: "c"}}
	bounds := []int{api.MaxPriority, 0, s.rng.IntN(50)} // ada owns the Macs
	at := 0
	for i := range 40 + s.rng.IntN(40) {
		who := s.rng.IntN(len(people))
		j := &simJob{ranks: 1 + s.rng.IntN(len(s.macs)), length: 1 + s.rng.IntN(longest), submit: at}
		if s.rng.IntN(2) == 0 {
			j.ranks = 1
		}
		j.Job = Job{ID: api.JobID(fmt.Sprintf("j%03d", i)), Principal: people[who], Preemptible: s.rng.IntN(2) == 0}
		if s.rng.IntN(2) == 0 {
			j.Priority = s.rng.IntN(api.MaxPriority-api.MinPriority+1) + api.MinPriority
		}
		j.Bounded = min(j.Priority, bounds[who])
		if s.rng.IntN(30) == 0 && !slices.ContainsFunc(s.jobs, func(o *simJob) bool { return o.Kept }) {
			j.Kept, j.YieldsWhenIdle, j.Preemptible, j.length, j.ranks = true, true, true, 1<<30, 1
		} else if len(s.jobs) > 0 && s.rng.IntN(8) == 0 {
			if before := s.jobs[s.rng.IntN(len(s.jobs))]; !before.Kept {
				j.after = before
			}
		}
		s.jobs = append(s.jobs, j)
		at += s.rng.IntN(3 * longest / len(s.macs))
	}
	left := func() bool {
		return slices.ContainsFunc(s.jobs, func(j *simJob) bool { return !j.ended && !(j.Kept && j.on != nil) })
	}
	for most := 200_000; left(); most-- {
		if most == 0 {
			t.Fatal("jobs are left that never end")
		}
		s.step()
	}
	for _, j := range s.jobs {
		preempted += j.preempts
		if j.Preempted > (api.MaxPriority-api.MinPriority)/spared+1 {
			t.Fatalf("%s was ended for others %d times", j.ID, j.Preempted)
		}
		if j.starts != 1+j.preempts {
			t.Fatalf("%s began %d times, and was ended for others %d times", j.ID, j.starts, j.preempts)
		}
	}
	return preempted
}

// Whatever is submitted, every job has its turn: behind no more jobs than were before it in
// line, each of which costs at most twice what the longest runs. What is ended for others comes back.
func TestNobodyWaitsForEver(t *testing.T) {
	preempted, seeds := 0, 6
	if os.Getenv("FULMEN_SOAK") != "" {
		seeds = 400
	}
	for seed := range testkit.Upto(t, seeds) {
		preempted += simulate(t, seed)
	}
	if preempted < 20 {
		t.Errorf("only %d jobs were ended for others: this shows nothing", preempted)
	}
}

// The order is one, however jobs are listed, and a bound holds against others only.
func TestOrder(t *testing.T) {
	is := is.New(t)
	ada, bob := api.Principal{User: "ada", Node: "a"}, api.Principal{User: "bob", Node: "b"}
	at := func(m int) api.Time { return api.TimeOf(time.Unix(0, 0).Add(time.Duration(m) * time.Minute)) }
	jobs := []Job{
		{ID: "b-high", Principal: bob, Priority: 100, Since: at(3)},
		{ID: "a", Principal: ada, Since: at(2)},
		{ID: "b", Principal: bob, Since: at(1)},
		{ID: "a-high", Principal: ada, Priority: 1, Bounded: 1, Since: at(10)},
		{ID: "b-low", Principal: bob, Priority: -1, Bounded: -1, Since: at(2)},
	}
	random := testkit.Fixed(t, 1).Source(1)
	for range 20 {
		random.Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
		var ids []api.JobID
		for _, j := range Order(jobs) {
			ids = append(ids, j.ID)
		}
		is.Equal(ids, []api.JobID{"a-high", "b-high", "a", "b", "b-low"})
	}
	is.True(slices.IsSortedFunc(Order(jobs)[3:], func(a, b Job) int { return cmp.Compare(b.Priority, a.Priority) }))
}

// No priority lets a job wait longer than for those that come within the bound.
func TestAgeOutweighsPriority(t *testing.T) {
	is := is.New(t)
	since := time.Unix(0, 0)
	low := Job{ID: "low", Priority: api.MinPriority, Bounded: api.MinPriority, Since: api.TimeOf(since)}
	high := Job{ID: "high", Priority: api.MaxPriority, Bounded: api.MaxPriority}
	within := (api.MaxPriority - api.MinPriority) * api.PriorityAge
	is.Equal(within, 33*time.Hour+20*time.Minute) // as the documentation says
	for after, first := range map[time.Duration]api.JobID{within - time.Second: "high", within + time.Second: "low"} {
		high.Since = api.TimeOf(since.Add(after))
		is.Equal(Order([]Job{low, high})[0].ID, first)
	}
}

// Who may have what ended.
func TestTakes(t *testing.T) {
	ada, bob := api.Principal{User: "ada", Node: "a"}, api.Principal{User: "bob", Node: "b"}
	for name, test := range map[string]struct {
		waits, runs Job
		want        bool
	}{
		"above":               {Job{Principal: ada, Bounded: 1}, Job{Principal: bob, Preemptible: true}, true},
		"not preemptible":     {Job{Principal: ada, Bounded: 100}, Job{Principal: bob}, false},
		"equal":               {Job{Principal: ada, Bounded: 1}, Job{Principal: bob, Bounded: 1, Preemptible: true}, false},
		"bounded":             {Job{Principal: bob, Priority: 100}, Job{Principal: ada, Preemptible: true}, false},
		"own, bounded":        {Job{Principal: bob, Priority: 1}, Job{Principal: bob, Preemptible: true}, true},
		"a member's claim":    {Job{Principal: ada, Bounded: 1}, Job{Principal: bob, Priority: 100, Preemptible: true}, true},
		"ended before":        {Job{Principal: ada, Bounded: 25}, Job{Principal: bob, Preemptible: true, Preempted: 1}, false},
		"ended before, above": {Job{Principal: ada, Bounded: 26}, Job{Principal: bob, Preemptible: true, Preempted: 1}, true},
		"idle":                {Job{Principal: bob, Bounded: -100}, Job{Principal: ada, YieldsWhenIdle: true, Idle: true}, true},
		"used":                {Job{Principal: bob}, Job{Principal: ada, YieldsWhenIdle: true}, false},
		"idle, of no use":     {Job{Principal: bob}, Job{Principal: ada, Idle: true}, false},
		"one that yields too": {Job{Principal: bob, YieldsWhenIdle: true}, Job{Principal: ada, YieldsWhenIdle: true, Idle: true}, false},
	} {
		t.Run(name, func(t *testing.T) { is.New(t).Equal(Takes(test.waits, test.runs), test.want) })
	}
}
