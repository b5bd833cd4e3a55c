package phase

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"fulmen/daemon/api"
)

func nodeID(i int) api.NodeID { return api.NodeID(fmt.Sprintf("node%d", i)) }

func nodeIDs(n ...int) []api.NodeID {
	var out []api.NodeID
	for _, i := range n {
		out = append(out, nodeID(i))
	}
	return out
}

func at(s int) api.Time {
	return api.TimeOf(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(s) * time.Second))
}

func rules() Rules { return rulesOf(api.JobSpec{}) }

func rulesOf(spec api.JobSpec) Rules {
	r := RulesOf(spec, DefaultTimes())
	r.Steps = unsigned{}
	return r
}

// unsigned leaves steps without a signature.
type unsigned struct{}

func (unsigned) Offer(_ api.Job, to api.NodeID, epoch uint64) api.Succession {
	return api.Succession{Epoch: epoch, Home: to}
}

func (unsigned) Act(_ api.Job, _ api.Principal, to api.NodeID, epoch uint64) api.Succession {
	return api.Succession{Epoch: epoch, Home: to}
}

// planOn puts one rank on each node.
func planOn(b api.Backend, nodes ...api.NodeID) api.Plan {
	p := api.Plan{Backend: b, Shape: api.ShapeRing}
	for i, n := range nodes {
		p.Ranks = append(p.Ranks, api.PlanRank{Rank: i, Node: n, GPU: api.GPUExclusive})
	}
	return p
}

func exit(code int) *api.Exit { return &api.Exit{Code: &code} }

// rig is a job on node0, taken through its life by hand.
type rig struct {
	t     *testing.T
	s     State
	all   []Effect // of the whole life
	last  []Effect // of the last event
	clock int
}

func newRig(t *testing.T, r Rules) *rig {
	t.Helper()
	g := &rig{t: t}
	g.s, g.last = Accept(nodeID(0), api.Job{Principal: api.Principal{User: "u", Node: nodeID(0)}}, r, at(0))
	g.all = slices.Clone(g.last)
	first := g.last
	g.next(Presence{nodeIDs(0, 1), nodeIDs(0, 1)}) // of two, none is a majority
	g.last = first
	return g
}

func (g *rig) next(events ...Event) *rig {
	g.t.Helper()
	for _, e := range events {
		g.clock++
		before, was := g.s, lists(g.s)
		g.s, g.last = Next(g.s, at(g.clock), e)
		if !reflect.DeepEqual(lists(before), was) {
			g.t.Fatal("Next changed the state it was given")
		}
		run := slices.Clone(before.Timers)
		for _, o := range append([]Effect{StopTimer{firedBy(e)}}, g.last...) {
			switch o := o.(type) {
			case StartTimer:
				run = append(run, o.Timer)
			case StopTimer:
				run = slices.DeleteFunc(run, func(id TimerID) bool { return id == o.Timer })
			}
		}
		if !slices.Equal(run, g.s.Timers) {
			g.t.Fatalf("%v run, and the state has %v", run, g.s.Timers)
		}
		g.all = append(g.all, g.last...)
		checkStep(g.t, before, g.s, g.last)
	}
	return g
}

// lists are those of a state, as they are now.
func lists(s State) []any {
	return []any{slices.Clone(s.Ranks), slices.Clone(s.Nodes), slices.Clone(s.Timers), slices.Clone(s.holders), slices.Clone(s.reported),
		slices.Clone(s.Job.Attempts), slices.Clone(s.Job.Phases), slices.Clone(s.Job.Homes)}
}

func firedBy(e Event) TimerID {
	fired, _ := e.(TimerFired)
	return fired.Timer
}

// started takes a job of ranks on the given nodes to its start.
func (g *rig) started(b api.Backend, nodes ...api.NodeID) *rig {
	g.t.Helper()
	g.next(Planned{planOn(b, nodes...)})
	n := g.s.Job.Attempt
	for i, id := range nodes {
		g.next(Granted{n, i, id})
	}
	return g.next(Preflighted{Attempt: n})
}

// ranks takes all ranks to a phase.
func (g *rig) ranks(p api.RankPhase) *rig {
	g.t.Helper()
	for i := range g.s.Ranks {
		g.next(RankAt{Attempt: g.s.Job.Attempt, Rank: i, Phase: p})
	}
	return g
}

func (g *rig) ended(rank int, e *api.Exit) *rig {
	g.t.Helper()
	return g.next(RankEnded{Attempt: g.s.Job.Attempt, Rank: rank, Exit: e})
}

// elected gives the votes that the last event asked for, where it did.
func (g *rig) elected() *rig {
	g.t.Helper()
	for _, e := range g.last {
		if ask, ok := e.(AskVotes); ok {
			return g.next(Voted{Before: ask.Job.Epoch, Epoch: ask.Epoch, Votes: []api.Vote{{Node: g.s.Self}}})
		}
	}
	return g
}

// fire lets a timer be due that must run.
func (g *rig) fire(k TimerKind) *rig {
	g.t.Helper()
	for _, t := range g.s.Timers {
		if t.Kind == k {
			return g.next(TimerFired{t})
		}
	}
	g.t.Fatalf("no %s timer runs in %s; %v do", k, g.s.Job.Phase, g.s.Timers)
	return nil
}

// silence lets the time for silence pass, and the nodes answer that nothing was printed.
func (g *rig) silence() *rig {
	g.t.Helper()
	for range listens {
		g.fire(TimerSilence)
		for _, n := range g.s.Nodes {
			g.next(Renewed{g.s.Job.Attempt, n.ID})
		}
	}
	return g.fire(TimerSilence)
}

// did gives the effects of the last event but timers and documents, in words.
func (g *rig) did() string { return words(g.last) }

func words(all []Effect) string {
	var out []string
	for _, e := range all {
		switch e := e.(type) {
		case PutDocument, StartTimer, StopTimer:
		case AskGrant:
			out = append(out, fmt.Sprintf("ask %d/%d %s", e.Attempt, e.Rank.Rank, e.Wait))
		case StartRank:
			out = append(out, fmt.Sprintf("%s %d/%d", map[bool]string{true: "prepare", false: "start"}[e.Wait], e.Attempt, e.Rank))
		case SpawnRank:
			out = append(out, fmt.Sprintf("spawn %d/%d", e.Attempt, e.Rank))
		case EndRanks:
			out = append(out, fmt.Sprintf("end %d on %s %s %s", e.Attempt, e.Node, e.Reason, e.Grace))
		case Renew:
			out = append(out, fmt.Sprintf("renew %d on %s", e.Attempt, e.Node))
		case Release:
			out = append(out, fmt.Sprintf("release %d/%d", e.Attempt, e.Rank))
		case Preflight:
			out = append(out, fmt.Sprintf("preflight %d", e.Attempt))
		case AskVotes:
			out = append(out, fmt.Sprintf("ask votes %d", e.Epoch))
		case HandOver:
			out = append(out, "hand over to "+string(e.To))
		case NotifyTerminal:
			out = append(out, fmt.Sprintf("tell %s %d", e.Phase, e.ExitCode))
		default:
			out = append(out, strings.TrimPrefix(fmt.Sprintf("%T", e), "phase."))
		}
	}
	return strings.Join(out, ", ")
}

// checkWords holds a document to what a person needs: whatever ended, and not well, says
// on which Mac or with which rank.
func checkWords(t testing.TB, job api.Job) {
	t.Helper()
	isNamed := func(text string) bool {
		return strings.Contains(text, "ank 0") || strings.Contains(text, "ank 1") || strings.Contains(text, "node")
	}
	if job.Phase.Ended() && job.Phase != api.JobSucceeded && !isNamed(job.Message) {
		t.Fatalf("%s for %s, and says %q", job.Phase, job.Reason, job.Message)
	}
	for _, a := range job.Attempts {
		if !a.EndedAt.IsZero() && a.Reason != "" && !isNamed(a.Message) {
			t.Fatalf("attempt %d ended for %s, and says %q", a.Attempt, a.Reason, a.Message)
		}
	}
}

// path gives the phases that the document records.
func (g *rig) path() string {
	var out []string
	for _, p := range g.s.Job.Phases {
		out = append(out, string(p.Phase))
	}
	return strings.Join(out, " ")
}

func first(all []Effect) Effect {
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

// checkTimers holds what runs to what there is to wait for: no timer of a phase outlives
// it, and each phase that may last for ever has the one that ends it.
func checkTimers(t testing.TB, s State) {
	t.Helper()
	var must, may []TimerKind
	when := func(is bool, k TimerKind) {
		if is {
			must = append(must, k)
		}
	}
	switch p := s.Job.Phase; {
	case p.Ended():
	case s.Role == RoleFollower:
		when(s.HomeLost && !s.lostLong, TimerHomeLost)
		when(s.voting, TimerVotes)
	case p == api.JobPlacing:
		when(s.Rules.Placing > 0 && s.handing == "", TimerPlacing)
		when(s.handing != "", TimerHandOver)
		when(s.open, TimerRenew)
	case p == api.JobBackoff:
		must = []TimerKind{TimerBackoff}
	case p == api.JobStarting:
		must = []TimerKind{TimerRenew, TimerLease}
		when(s.preparing, TimerPreparing)
		when(!s.preparing, TimerStarting)
	case p == api.JobHandshake:
		must = []TimerKind{TimerRenew, TimerLease, TimerHandshake}
	case p == api.JobRunning:
		must = []TimerKind{TimerRenew, TimerLease}
		when(s.Rules.Run > 0, TimerRun)
		when(s.Rules.Silence > 0, TimerSilence)
	case p == api.JobEnding:
		must = []TimerKind{TimerEnd}
		when(!s.taken, TimerLease)
	}
	if s.Role == RoleHome && s.Rules.Placing > 0 && s.Job.Phase != api.JobRunning && !s.Job.Phase.Ended() {
		may = append(may, TimerPlacing)
	}
	for _, k := range must {
		if !s.runs(k) {
			t.Fatalf("%s %s without its %s timer", s.Role, s.Job.Phase, k)
		}
	}
	for _, id := range s.Timers {
		if !slices.Contains(must, id.Kind) && !slices.Contains(may, id.Kind) {
			t.Fatalf("%s %s with a %s timer", s.Role, s.Job.Phase, id.Kind)
		}
	}
}

// checkStep holds one step to what is true of every one.
func checkStep(t testing.TB, before, after State, out []Effect) {
	t.Helper()
	ran := before.Job.Phases
	terminals := 0
	for i, e := range out {
		switch e := e.(type) {
		case PutDocument:
			if i != 0 {
				t.Fatal("something was done before the document said so")
			}
			checkWords(t, e.Job)
		case NotifyTerminal:
			terminals++
		case StartRank:
			if before.Live() {
				t.Fatalf("attempt %d starts while ranks of %d may live", e.Attempt, before.Job.Attempt)
			}
		case SpawnRank:
			for _, r := range after.Ranks {
				if !r.Prepared && !spawned(r.Phase) || !before.preparing || after.Job.Phase != api.JobStarting {
					t.Fatalf("rank %d runs in %s, and one on %s is not prepared: %s", e.Rank, after.Job.Phase, r.Node, r.Phase)
				}
			}
		}
	}
	switch {
	case before.Job.Phase.Ended() && before.Role == RoleHome:
		if after.Job.Phase != before.Job.Phase || terminals > 0 {
			t.Fatal("the end was not the end")
		}
		return
	case after.Role == RoleHome && after.Job.Phase.Ended():
		if terminals != 1 || after.Live() || len(after.Timers) > 0 || after.Job.ExitCode == nil || after.Job.EndedAt.IsZero() {
			t.Fatalf("ended with %d terminal events, live %v, timers %v", terminals, after.Live(), after.Timers)
		}
		for _, r := range after.Ranks {
			if r.Asked {
				t.Fatal("a grant outlives its job")
			}
		}
	case terminals > 0:
		t.Fatal("told an end that is none")
	}
	checkTimers(t, after)
	if p := after.Job.Phase; after.preparing && p != api.JobStarting || after.taken && p != api.JobEnding || after.handing != "" && p != api.JobPlacing {
		t.Fatalf("%s: prepares %v, taken over %v, handed to %q", p, after.preparing, after.taken, after.handing)
	}
	if after.Role == RoleHome && (after.HomeLost || after.lostLong || after.voting) ||
		after.Role == RoleFollower && (after.open || after.blocked || after.handing != "" || after.Ranks != nil || after.Nodes != nil || after.Cause != nil) {
		t.Fatalf("a %s that is half of the other", after.Role)
	}
	if after.Job.Phase.Ended() && after.Job.WaitingFor != "" {
		t.Fatalf("%s, and waits for %s", after.Job.Phase, after.Job.WaitingFor)
	}
	if after.Role == RoleHome && before.Job.SpecSHA256 == after.Job.SpecSHA256 && !reflect.DeepEqual(before.Job, after.Job) {
		if put, isPut := first(out).(PutDocument); !isPut || !reflect.DeepEqual(put.Job, after.Job) {
			t.Fatalf("what changed in %s is not published", after.Job.Phase)
		}
	}
	if after.Role != RoleHome || before.Role != RoleHome {
		return
	}
	if a := (&step{State: after}).attempt(); a != nil && after.open == !a.EndedAt.IsZero() && a.Plan != nil {
		t.Fatalf("attempt %d is open: %v; and ended at %v", a.Attempt, after.open, a.EndedAt)
	}
	if len(after.Job.Phases) >= len(ran) && len(ran) > 0 {
		for i := len(ran); i < len(after.Job.Phases); i++ {
			if from, to := after.Job.Phases[i-1].Phase, after.Job.Phases[i].Phase; !from.May(to) {
				t.Fatalf("%s follows %s", to, from)
			}
		}
	}
	if after.Job.Phase.Ended() || len(after.Timers) > 0 {
		return
	}
	// Without a deadline it waits for an answer that the caller owes, or says for what.
	if after.Job.Phase != api.JobQueued && after.Job.Phase != api.JobPlacing {
		t.Fatalf("%s waits for nothing", after.Job.Phase)
	}
}
