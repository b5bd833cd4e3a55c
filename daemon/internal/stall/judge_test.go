package stall_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/stall"
	"fulmen/native/nativetest/testkit"
)

// quiet is a rank that has not moved for a while.
func quiet(activity api.RankActivity, change ...func(*api.RankProgress)) *api.RankProgress {
	p := &api.RankProgress{Activity: activity, QuietS: 8, StillS: 8}
	for _, c := range change {
		c(p)
	}
	return p
}

func owes(what api.RankDebt) func(*api.RankProgress) {
	return func(p *api.RankProgress) { p.Owes, p.OwesS = what, 7 }
}

func halted(why api.RankHalt, s float64) func(*api.RankProgress) {
	return func(p *api.RankProgress) { p.Halt, p.HaltS = why, s }
}

// What each group comes to: it stalls, for whom, and what is said of that.
func TestJudge(t *testing.T) {
	idle, waits, computes, unknown := api.RankIdle, api.RankWaiting, api.RankComputing, api.RankUnknown
	moves := func(p *api.RankProgress) { p.QuietS, p.StillS = 0, 0 }
	stirs := func(p *api.RankProgress) { p.StillS = 0 }
	for name, c := range map[string]struct {
		ranks []*api.RankProgress
		want  stall.Verdict
	}{
		"nothing":              {nil, stall.Verdict{Suspect: -1}},
		"one says nothing":     {[]*api.RankProgress{quiet(waits), nil}, stall.Verdict{Suspect: -1}},
		"one said it long ago": {[]*api.RankProgress{quiet(waits), quiet(waits, func(p *api.RankProgress) { p.AgeS = 9 })}, stall.Verdict{Suspect: -1}},
		"a server that idles":  {[]*api.RankProgress{quiet(idle), quiet(waits)}, stall.Verdict{IsKnown: true, Suspect: -1, IsIdle: true}},
		"one loads":            {[]*api.RankProgress{quiet(computes), quiet(waits)}, stall.Verdict{IsKnown: true, Suspect: -1}},
		"all wait":             {[]*api.RankProgress{quiet(waits), quiet(waits)}, stall.Verdict{IsKnown: true, Stalled: true, Again: stall.Every, Suspect: -1, What: "have been inside a collective for 8 s, and nothing moves"}},
		"all wait, and meet":   {[]*api.RankProgress{quiet(waits, stirs), quiet(waits, stirs)}, stall.Verdict{IsKnown: true, Suspect: -1, Again: 5 * time.Second}},
		"all wait, and one is asked": {[]*api.RankProgress{quiet(waits, stirs), quiet(waits)},
			stall.Verdict{IsKnown: true, Stalled: true, Again: stall.Every, Suspect: -1, What: "have been inside a collective for 8 s, and nothing moves"}},
		"one alone waits":          {[]*api.RankProgress{quiet(waits)}, stall.Verdict{IsKnown: true, Suspect: -1, IsIdle: true}},
		"one alone owes":           {[]*api.RankProgress{quiet(idle, owes(api.DebtRequest))}, stall.Verdict{IsKnown: true, Stalled: true, Again: stall.Every, Suspect: 0, What: "does nothing, and rank 0 has owed an answer to a request for 7 s"}},
		"it has just begun to owe": {[]*api.RankProgress{quiet(idle, owes(api.DebtProbe), func(p *api.RankProgress) { p.OwesS = 2 })}, stall.Verdict{IsKnown: true, Suspect: -1, Again: 3 * time.Second}},
		"it owes, and another one is left": {[]*api.RankProgress{quiet(waits, owes(api.DebtProbe)), quiet(idle)},
			stall.Verdict{IsKnown: true, Stalled: true, Again: stall.Every, Suspect: 1, What: "has done nothing for 8 s while others wait for it, and rank 0 has owed an answer to a probe for 7 s"}},
		"it owes, and computes":         {[]*api.RankProgress{quiet(computes, owes(api.DebtHeartbeat)), quiet(idle)}, stall.Verdict{IsKnown: true, Suspect: -1}},
		"it owes, and moves":            {[]*api.RankProgress{quiet(idle, owes(api.DebtHeartbeat)), quiet(idle, moves)}, stall.Verdict{IsKnown: true, Suspect: -1, Again: 5 * time.Second}},
		"stopped":                       {[]*api.RankProgress{quiet(computes, moves), quiet(idle, halted(api.RankHaltStopped, 4))}, stall.Verdict{IsKnown: true, Stalled: true, Again: stall.Every, Suspect: 1, What: "has been stopped by a signal for 4 s, and goes on at SIGCONT"}},
		"just stopped":                  {[]*api.RankProgress{quiet(computes), quiet(idle, halted(api.RankHaltTraced, 1.5))}, stall.Verdict{IsKnown: true, Suspect: -1, Again: 2500 * time.Millisecond}},
		"who knows":                     {[]*api.RankProgress{quiet(unknown), quiet(unknown)}, stall.Verdict{IsKnown: true, Suspect: -1, Again: time.Second, Stacks: []int{0, 1}}},
		"who knows, and one is outside": {[]*api.RankProgress{quiet(unknown), quiet(idle)}, stall.Verdict{IsKnown: true, Suspect: -1}},
	} {
		t.Run(name, func(t *testing.T) { is.New(t).Equal(stall.Judge(c.ranks), c.want) })
	}
}

// drawn is any group.
func drawn(random *rand.Rand) []*api.RankProgress {
	var ranks []*api.RankProgress
	pick := func(words []string) string { return append(words, "", "", "")[random.IntN(len(words)+3)] }
	for range 1 + random.IntN(4) {
		p := &api.RankProgress{AgeS: 8 * random.Float64(), QuietS: 12 * random.Float64(), Activity: api.RankActivity(api.RankActivity("").Values()[random.IntN(4)]),
			Halt: api.RankHalt(pick(api.RankHalt("").Values())), HaltS: 8 * random.Float64(), Owes: api.RankDebt(pick(api.RankDebt("").Values())), OwesS: 12 * random.Float64()}
		p.StillS = p.QuietS * random.Float64()
		ranks = append(ranks, p)
	}
	return ranks
}

// Of any group: nobody is suspected of what was not seen, who gets on is no stall, and who is asked
// again is asked once there can be more to say.
func TestAnyGroup(t *testing.T) {
	for seed := range testkit.Upto(t, 4000) {
		random := seed.Source(0)
		ranks := drawn(random)
		v, isHalted, isOwed, least := stall.Judge(ranks), false, false, 12.0
		isLively := false
		for _, p := range ranks {
			isHalted = isHalted || p.Halt != "" && p.HaltS >= stall.HaltLimit.Seconds()
			isOwed = isOwed || p.Owes != "" && p.OwesS >= stall.QuietLimit.Seconds()
			least = min(least, p.QuietS)
			isLively = isLively || p.Activity == api.RankComputing || p.Activity == api.RankUnknown
		}
		switch {
		case !v.IsKnown, v.Suspect >= len(ranks), v.Suspect < -1, v.Stalled != (v.What != ""), v.Again < 0, v.Again > stall.QuietLimit:
			t.Errorf("%d: %+v", seed, v)
		case isHalted != (v.Stalled && v.Suspect >= 0 && ranks[v.Suspect].Halt != "" && ranks[v.Suspect].HaltS >= stall.HaltLimit.Seconds()):
			t.Errorf("%d: whoever is halted is the suspect: %+v", seed, v)
		case v.Stalled && !isHalted && (least < stall.QuietLimit.Seconds() || isLively):
			t.Errorf("%d: one gets on, and %+v", seed, v)
		case v.Stalled && v.IsIdle, v.Stalled && !isHalted && !isOwed && len(ranks) == 1:
			t.Errorf("%d: one alone owes nothing, and %+v", seed, v)
		}
		if one := ranks[random.IntN(len(ranks))]; !isHalted {
			one.Activity, one.Halt = api.RankComputing, ""
			if v := stall.Judge(ranks); v.Stalled {
				t.Errorf("%d: one computes, and %+v", seed, v)
			}
		}
		if t.Failed() {
			return
		}
	}
}

// What sample(1) of macOS prints of a process tells whether it is inside a collective; what
// libraries it has loaded, which follow, does not.
func TestStackOf(t *testing.T) {
	is := is.New(t)
	const head = "Analysis of sampling python3.12 (pid 71) every 1 millisecond\nCall graph:\n    731 Thread_1 DispatchQueue_1: com.apple.main-thread\n      731 mlx::core::Event::wait()\n"
	const tail = "\nTotal number in stack (recursive counted multiple, when >=5):\n        5 jaccl::MeshGroup::all_sum\nBinary Images:\n libjaccl.dylib\n"
	is.Equal(stall.StackOf(head+"    731 Thread_2\n      731 jaccl::MeshImpl<2>::all_reduce(float*)  (in libjaccl.dylib) + 1\n"+tail), stall.StackCollective)
	is.Equal(stall.StackOf(head+"    731 Thread_2\n      731 _dyld_start\n"+tail), stall.StackOutside)
	is.Equal(stall.StackOf("sample cannot examine process 71"), stall.Stack(""))
}
