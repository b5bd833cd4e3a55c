package phase

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// again takes a job in backoff, or that looks for nodes already, to its next start.
func (g *rig) again(b api.Backend) *rig {
	g.t.Helper()
	if g.s.Job.Phase == api.JobBackoff {
		g.fire(TimerBackoff)
	}
	return g.started(b, nodeIDs(0, 1)...)
}

// A program that fails before it has dialled anybody does not get better by being
// repeated quickly.
func TestAProgramThatFailsBeforeItJoinsIsTriedThreeTimes(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).started(api.BackendJACCL, nodeIDs(0, 1)...)
	for n := 1; n <= 3; n++ {
		is.Equal(g.s.Job.Attempt, n)
		g.next(RankEnded{Attempt: n, Rank: 1, Exit: exit(7), Message: "Rank 1 ended with exit code 7.", Handshake: api.HandshakeNone}).ended(0, &api.Exit{Signal: 15})
		is.True(!g.s.Job.Attempts[n-1].Uncounted)
		is.Equal(g.s.Job.CountedAttempts, n)
		is.Equal(g.s.Job.Attempts[n-1].Message, "Rank 1 ended with exit code 7, before it had joined the group.")
		if n < 3 {
			is.Equal(g.s.Job.Phase, api.JobBackoff)
			is.True(g.s.Job.NextAttemptAt.After(at(g.clock).Time))
			g.again(api.BackendJACCL)
		}
	}
	is.Equal(g.s.Job.Phase, api.JobFailed)
	is.Equal(g.s.Job.Reason, api.ReasonNeverJoined)
	is.Equal(*g.s.Job.ExitCode, 7)
}

// A start that fails before anybody has joined is repeated after waits that double, so
// that eight take half a minute: each retry adds one. What a person says is the most
// there are, whatever fails.
func TestAStartThatNobodyJoinedIsRepeated(t *testing.T) {
	for name, fail := range map[string]func(g *rig){
		"a node is lost": func(g *rig) { g.next(NodeLost{Node: nodeID(1)}).ended(0, &api.Exit{Signal: 15}).ended(1, nil) },
		"a cable is pulled": func(g *rig) {
			g.next(LinkLost{g.s.Job.Attempt, Cause{Reason: api.ReasonLinkGone}}).ended(0, nil).ended(1, nil)
		},
		"a program gives up": func(g *rig) { g.next(dialled(g, 1, exit(1))).ended(0, &api.Exit{Signal: 15}) },
		"a program is killed": func(g *rig) {
			g.next(RankEnded{Attempt: g.s.Job.Attempt, Rank: 1, Exit: &api.Exit{Signal: 9}, Handshake: api.HandshakeNone}).ended(0, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			for _, c := range []struct{ most, retries, want int }{{0, 0, 8}, {0, 2, 10}, {1, 0, 1}, {1, 5, 1}, {3, 0, 3}, {12, 0, 12}} {
				r := rules()
				r.MaxAttempts, r.Retries = c.most, c.retries
				g := newRig(t, r).started(api.BackendJACCL, nodeIDs(0, 1)...)
				var waits time.Duration
				for n := 1; ; n++ {
					fail(g)
					is.Equal(g.s.Job.Attempts[n-1].Uncounted, c.most == 0)
					if g.s.Job.Phase == api.JobFailed {
						is.Equal(n, c.want)
						break
					}
					is.Equal(g.s.Job.Phase, api.JobBackoff)
					if n < api.DefaultStarts {
						waits += g.s.Job.NextAttemptAt.Sub(at(g.clock).Time)
					}
					g.again(api.BackendJACCL)
				}
				is.True(c.want < api.DefaultStarts || waits >= 30*time.Second && waits < 40*time.Second)
			}
		})
	}
}

// The time for placing goes over all attempts until all ranks have joined: a start that
// is under way when it is over goes on, and is not repeated.
func TestPlacingGoesOverAllStarts(t *testing.T) {
	is := is.New(t)
	r := rules()
	r.Placing = 20 * time.Second
	g := newRig(t, r).started(api.BackendJACCL, nodeIDs(0, 1)...)
	g.next(LinkLost{1, Cause{Reason: api.ReasonLinkGone}}).ended(0, nil).ended(1, nil)
	g.again(api.BackendJACCL).fire(TimerPlacing)
	is.Equal(g.s.Job.Phase, api.JobStarting)
	g.next(LinkLost{2, Cause{Reason: api.ReasonLinkGone}}).ended(0, nil).ended(1, nil)
	is.Equal(g.s.Job.Phase, api.JobFailed)
	is.Equal(g.s.Job.Reason, api.ReasonLinkGone)
}

// The time for running goes over all attempts, and nothing is repeated after it.
func TestRunningGoesOverAllAttempts(t *testing.T) {
	is := is.New(t)
	r := rules()
	r.Run, r.Retries = time.Minute, 9
	g := newRig(t, r).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
	first := g.s.Job.PhaseSince
	g.clock += 40
	g.ended(0, exit(1)).ended(1, nil).again(api.BackendRing).ranks(api.RankRunning)
	i := slices.IndexFunc(g.last, func(e Effect) bool { t, ok := e.(StartTimer); return ok && t.Timer.Kind == TimerRun })
	ran := g.s.Job.Phases[len(g.s.Job.Phases)-5].At.Sub(first.Time) // until it ended
	is.True(i >= 0)
	is.Equal(g.last[i].(StartTimer).After, time.Minute-ran)
	g.fire(TimerRun).ended(0, nil).ended(1, nil)
	is.Equal(g.s.Job.Phase, api.JobFailed)
	is.Equal(g.s.Job.Reason, api.ReasonRunTooLong)
}

// dialled is the end of a rank that had begun to join.
func dialled(g *rig, rank int, e *api.Exit) RankEnded {
	return RankEnded{Attempt: g.s.Job.Attempt, Rank: rank, Exit: e, Handshake: api.HandshakeConnected}
}

// Once one rank has joined, attempts count; and so do those that took all the time
// they had: a program that never joins must not be started for ever.
func TestWhatCounts(t *testing.T) {
	for name, fail := range map[string]func(g *rig){
		"one has joined": func(g *rig) {
			g.next(RankAt{Attempt: g.s.Job.Attempt, Rank: 0, Phase: api.RankRunning}, dialled(g, 1, exit(1))).ended(0, nil)
		},
		"one has joined, which its end tells": func(g *rig) {
			g.next(RankEnded{Attempt: g.s.Job.Attempt, Rank: 1, Exit: exit(1), Handshake: api.HandshakeJoined}).ended(0, nil)
		},
		"the handshake took too long": func(g *rig) { g.ranks(api.RankHandshake).fire(TimerHandshake).ended(0, nil).ended(1, nil) },
		"the start took too long":     func(g *rig) { g.fire(TimerStarting).ended(0, nil).ended(1, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			g := newRig(t, rules()).started(api.BackendJACCL, nodeIDs(0, 1)...)
			fail(g)
			is.Equal(g.s.Job.Phase, api.JobBackoff)
			is.Equal(g.s.Job.CountedAttempts, 1)
			g.again(api.BackendJACCL)
			fail(g)
			g.again(api.BackendJACCL)
			fail(g)
			is.Equal(g.s.Job.Phase, api.JobFailed)
		})
	}
}

// All ranks had joined, though nobody saw the job run: nothing is repeated.
func TestAnEndThatTellsThatAllHadJoined(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).started(api.BackendJACCL, nodeIDs(0, 1)...)
	g.next(RankEnded{Attempt: 1, Rank: 1, Exit: exit(3), Handshake: api.HandshakeJoined})
	g.next(RankEnded{Attempt: 1, Rank: 0, Exit: &api.Exit{Signal: 15}, Handshake: api.HandshakeJoined})
	is.Equal(g.s.Job.Phase, api.JobFailed)
	is.Equal(g.s.Job.Reason, api.ReasonRankFailed)
	is.Equal(g.s.Job.Attempts[0].Joined, []int{0, 1})
	is.Equal(g.s.Job.Retried, 1)
}

// The wait between attempts differs by job, and never by how often it is computed.
func TestBackoffHasJitter(t *testing.T) {
	is := is.New(t)
	waits := map[time.Duration]bool{}
	for i := range 20 {
		wait := func() time.Duration {
			m := &step{State: State{Rules: rules(), Job: api.Job{SpecSHA256: fmt.Sprint(i)}, failedRuns: 1}}
			m.wait(Cause{Reason: api.ReasonRankFailed})
			return m.Job.NextAttemptAt.Sub(m.at.Time)
		}
		d := wait()
		is.Equal(d, wait())
		is.True(d >= 500*time.Millisecond && d < 625*time.Millisecond)
		waits[d] = true
	}
	is.True(len(waits) > 10)
}

// An attempt that ran, or in which all ranks joined, ends the count of starts before.
func TestStartsAreCountedSinceAllHadJoined(t *testing.T) {
	started := func(n int, p *api.Plan, joined ...int) api.Attempt {
		return api.Attempt{Attempt: n, StartedAt: api.TimeOf(time.Unix(int64(n), 0)), Plan: p, Joined: joined}
	}
	ring, jaccl := planOn(api.BackendRing, nodeIDs(0, 1)...), planOn(api.BackendJACCL, nodeIDs(0, 1)...)
	for _, c := range []struct {
		name  string
		first api.Attempt
		ran   bool
		want  int
	}{
		{"none joined", started(1, &jaccl), false, 3},
		{"some joined", started(1, &jaccl, 0), false, 3},
		{"all joined", started(1, &jaccl, 0, 1), false, 2},
		{"ran", started(1, &ring), true, 2},
		{"ran, its plan not kept", started(1, nil), true, 2},
		{"not started", api.Attempt{Attempt: 1}, false, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			m := &step{State: State{Job: api.Job{Attempts: []api.Attempt{c.first, started(2, &ring), started(3, &ring)}}}}
			if c.ran {
				m.Job.Phases = []api.PhaseTime{{Phase: api.JobRunning, Attempt: 1}}
			}
			is.Equal(m.starts(), c.want)
		})
	}
}

// The last phases are kept.
func TestPhasesAreBounded(t *testing.T) {
	is := is.New(t)
	m := &step{}
	for n := 1; n <= maxPhasesKept+3; n++ {
		m.Job.Attempt = n
		m.passed(api.JobPlacing)
		is.Equal(len(m.Job.Phases), min(n, maxPhasesKept))
		is.Equal(m.Job.Phases[len(m.Job.Phases)-1].Attempt, n)
	}
}

// The last attempts are kept, and of the very last the plans, which are large.
func TestAttemptsAndPlansAreBounded(t *testing.T) {
	is := is.New(t)
	m := &step{State: State{Rules: rules()}}
	for n := 1; n <= maxAttemptsKept+3; n++ {
		m.beginAttempt(api.Plan{})
		all := m.Job.Attempts
		is.Equal(len(all), min(n, maxAttemptsKept))
		is.Equal(all[len(all)-1].Attempt, n)
		for i, a := range all {
			is.Equal(a.Plan != nil, i >= len(all)-maxPlansKept)
		}
	}
}

// The start of a ring fails with a node, and is repeated; a program that fails in it is its
// own, and counts. Once the job runs, what was counted before is forgotten.
func TestWhatCountsOfARing(t *testing.T) {
	is := is.New(t)
	r := rules()
	r.Retries = 1
	g := newRig(t, r).started(api.BackendRing, nodeIDs(0, 1)...).next(NodeLost{Node: nodeID(1)}).ended(0, nil).ended(1, nil)
	is.Equal(g.s.Job.CountedAttempts, 0)
	is.True(g.s.Job.Attempts[0].Uncounted)
	g.again(api.BackendRing).ended(0, exit(1)).ended(1, nil)
	is.Equal(g.s.Job.CountedAttempts, 1)
	is.True(!g.s.Job.Attempts[1].Uncounted)
	g.again(api.BackendRing).ranks(api.RankRunning).ended(0, exit(1)).ended(1, nil)
	is.Equal(g.s.Job.Phase, api.JobBackoff)
	is.Equal(g.s.Job.CountedAttempts, 0)
}

func TestRetriesAfterTheStartAreThoseAskedFor(t *testing.T) {
	is := is.New(t)
	r := rules()
	r.Retries = 1
	g := newRig(t, r).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
	g.ended(0, exit(1)).ended(1, nil)
	is.Equal(g.s.Job.Phase, api.JobBackoff)
	g.again(api.BackendRing).ranks(api.RankRunning).ended(0, exit(2)).ended(1, nil)
	is.Equal(g.s.Job.Phase, api.JobFailed)
	is.Equal(*g.s.Job.ExitCode, 2)
	is.Equal(*g.s.Job.Attempts[0].ExitCode, 1) // each attempt keeps its own first cause
}

func TestWhatCannotHelpIsNotRetried(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).next(Planned{planOn(api.BackendRing, nodeIDs(0, 1)...)}, Granted{1, 0, nodeID(0)},
		PreflightFailed{Attempt: 1, Cause: Cause{Reason: api.ReasonProgramMissing, Final: true}})
	is.Equal(g.did(), "release 1/0, release 1/1, tell failed 127")

	g = newRig(t, rules()).started(api.BackendJACCL, nodeIDs(0, 1)...)
	g.next(RankEnded{Attempt: 1, Rank: 0, Reason: api.ReasonSpawnFailed, Final: true}).ended(1, nil)
	is.Equal(g.s.Job.Phase, api.JobFailed)
}

func TestEndingWellWithoutJoining(t *testing.T) {
	for _, solo := range []bool{false, true} {
		is := is.New(t)
		r := rules()
		r.AllowSolo = solo
		g := newRig(t, r).started(api.BackendJACCL, nodeIDs(0, 1)...)
		g.next(RankEnded{Attempt: 1, Rank: 1, Exit: exit(0), Handshake: api.HandshakeNone}).ended(0, exit(0))
		if solo {
			is.Equal(g.s.Job.Phase, api.JobSucceeded)
		} else { // it never tried, and never will
			is.Equal(g.s.Job.Phase, api.JobFailed)
			is.Equal(g.s.Job.Reason, api.ReasonNeverJoined)
			is.Equal(*g.s.Job.Attempts[0].FirstFailed, 1)
			is.Equal(*g.s.Job.ExitCode, api.ExitNotStarted) // not 0: the job failed
		}
	}
	is := is.New(t)
	g := newRig(t, rules()).started(api.BackendJACCL, nodeIDs(0, 1)...).next(dialled(&rig{s: State{Job: api.Job{Attempt: 1}}}, 1, exit(0)))
	is.Equal(g.s.Job.Phase, api.JobEnding) // the others wait for it in vain
	g.ended(0, &api.Exit{Signal: 15})
	is.Equal(g.s.Job.Phase, api.JobBackoff) // and it may join the next time
	is.Equal(g.s.Job.Attempts[0].Reason, api.ReasonNeverJoined)

	g = newRig(t, rules()).started(api.BackendJACCL, nodeID(0)).ended(0, exit(0))
	is.Equal(g.s.Job.Phase, api.JobSucceeded) // one alone has nobody to join
}

// Where no rank has to join, the job runs once its programs do, and what ends one of them
// has nothing to do with joining.
func TestNoRankHasToJoin(t *testing.T) {
	is := is.New(t)
	r := rules()
	r.AllowSolo = true
	g := newRig(t, r).started(api.BackendJACCL, nodeIDs(0, 1)...).ranks(api.RankRunning)
	is.Equal(g.s.Job.Phase, api.JobRunning)
	g.ended(1, exit(3)).ended(0, &api.Exit{Signal: 15})
	is.Equal(g.s.Job.Phase, api.JobFailed)
	is.Equal(g.s.Job.Reason, api.ReasonRankFailed)
	is.Equal(*g.s.Job.Attempts[0].FirstFailed, 1)

	g = newRig(t, r).started(api.BackendJACCL, nodeIDs(0, 1)...).ended(1, exit(3)) // before it was told that it runs
	is.Equal(g.s.Job.Reason, api.ReasonRankFailed)
}

// Where another backend may do, it is planned anew at once, and the attempt counts nothing.
func TestAnotherPlanIsLookedForAtOnce(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).next(Planned{planOn(api.BackendJACCL, nodeIDs(0, 1)...)}, Granted{1, 0, nodeID(0)}, Granted{1, 1, nodeID(1)})
	why := Cause{Reason: api.ReasonJACCLMissing, Message: "MLX on node0 has no jaccl."}
	g.next(PreflightFailed{Attempt: 1, Cause: why, Replan: true})
	is.Equal(g.did(), "release 1/0, release 1/1, AskPlan")
	is.Equal(g.s.Job.Phase, api.JobPlacing)
	is.True(g.s.Job.Attempts[0].Uncounted)
	is.Equal(g.s.Job.Attempts[0].Message, why.Message)
	g.started(api.BackendRing, nodeIDs(0, 1)...)
	is.Equal(g.s.Job.Attempt, 2)
	is.Equal(g.s.Job.Phase, api.JobStarting)
	is.Equal(g.s.Job.CountedAttempts, 0)
}

// A program whose Python finds no MLX is started once, and told once.
func TestWithoutMLXNothingIsRepeated(t *testing.T) {
	is := is.New(t)
	note := api.Cause{Reason: api.ReasonProgramMLXMissing, Message: "The program's Python finds no MLX on node0."}
	g := newRig(t, rules()).next(Planned{planOn(api.BackendRing, nodeIDs(0, 1)...)}, Granted{1, 0, nodeID(0)}, Granted{1, 1, nodeID(1)})
	g.next(Preflighted{Attempt: 1, Notes: []api.Cause{note, note}})
	is.Equal(g.s.Job.Attempts[0].Plan.Notes, []api.Cause{note})
	g.ended(0, exit(1)).ended(1, exit(1))
	is.Equal(g.s.Job.Phase, api.JobFailed)
	is.Equal(len(g.s.Job.Attempts), 1)
}

func TestStandingInLineHoldsInOrderOfNodes(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).next(Preflighted{Attempt: 1}, Planned{planOn(api.BackendRing, nodeIDs(0, 2, 1)...)}, Preflighted{Attempt: 1})
	g.next(Granted{1, 0, nodeID(0)}, GrantRefused{1, 1, true, Cause{Reason: api.ReasonMeasurementRunning, WaitingFor: "jaaaaaaaa/1/0"}})
	is.Equal(g.did(), "") // not all have answered
	is.Equal(g.s.Job.WaitingFor, "jaaaaaaaa/1/0")
	g.next(Granted{1, 2, nodeID(1)})
	is.Equal(g.did(), "release 1/0, release 1/1, release 1/2, ask 1/0 1m0s")
	g.next(Granted{1, 0, nodeID(0)})
	is.Equal(g.did(), "ask 1/2 1m0s")
	g.next(GrantRefused{1, 2, true, Cause{Reason: api.ReasonMeasurementRunning}})
	is.Equal(g.did(), "ask 1/2 1m0s") // goes on waiting
	g.fire(TimerRenew)
	is.Equal(g.did(), "renew 1 on node0") // what is held is kept meanwhile
	g.next(Renewed{1, nodeID(0)}, Granted{1, 2, nodeID(1)}, Granted{1, 1, nodeID(2)})
	is.Equal(g.did(), "start 1/0, start 1/1, start 1/2")
}

func TestPlacingHasADeadlineAndAReason(t *testing.T) {
	is := is.New(t)
	r := rules()
	r.Placing = time.Minute
	g := newRig(t, r).next(Unplaceable{Cause: Cause{Reason: api.ReasonNotEnoughMemory, WaitingFor: "40 GB on node1"}})
	is.Equal(g.s.Job.WaitingFor, "40 GB on node1")
	g.next(Planned{planOn(api.BackendRing, nodeIDs(0, 1)...)}, GrantRefused{1, 1, false, Cause{Reason: api.ReasonOnBattery}})
	is.Equal(g.did(), "release 1/0")
	is.Equal(g.s.Job.Phase, api.JobBackoff)
	is.Equal(g.s.Job.Reason, api.ReasonOnBattery)
	g.fire(TimerPlacing) // counts from the first look on
	is.Equal(g.did(), "tell failed 125")
	is.Equal(g.s.Job.Reason, api.ReasonOnBattery)
}

func TestBackoffGrowsToItsBound(t *testing.T) {
	is := is.New(t)
	r := rules()
	is.Equal(r.backoff(1), 500*time.Millisecond)
	is.Equal(r.backoff(3), 2*time.Second)
	is.Equal(r.backoff(7), 30*time.Second) // and not 32
	is.Equal(r.backoff(1000), 30*time.Second)
	is.Equal(Rules{Times: Times{Backoff: time.Hour, BackoffMax: 3 * time.Hour}}.backoff(1000), 3*time.Hour)
	is.Equal(Rules{Times: Times{Backoff: time.Hour, BackoffMax: time.Second}}.backoff(1), time.Second)
	is.Equal(r.Window(), 41500*time.Millisecond)
}

func TestSpecDecides(t *testing.T) {
	is := is.New(t)
	grace, run := 0.5, -1.0
	r := RulesOf(api.JobSpec{MaxAttempts: 999, Retries: 2, Deadlines: api.Deadlines{GraceS: &grace, RunS: &run}}, DefaultTimes())
	is.Equal(r.MaxAttempts, api.MaxStarts)
	is.Equal(r.Grace, 500*time.Millisecond)
	is.Equal(r.Run, time.Duration(0)) // nonsense is no bound

	s := func(n float64) *float64 { return &n }
	r = RulesOf(api.JobSpec{Deadlines: api.Deadlines{PlacingS: s(1), PreparingS: s(2), StartingS: s(3), HandshakeS: s(4), RunS: s(5), SilenceS: s(6), GraceS: s(0)}}, DefaultTimes())
	is.Equal([]time.Duration{r.Placing, r.Preparing, r.Starting, r.Handshake, r.Run, r.Silence, r.Grace},
		[]time.Duration{1e9, 2e9, 3e9, 4e9, 5e9, 6e9, 0})
	is.Equal(RulesOf(api.JobSpec{Deadlines: api.Deadlines{RunS: s(1e300)}}, DefaultTimes()).Run, time.Duration(1e18))
}
