package sidechannel_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/e2e/jaccl"
	"fulmen/daemon/internal/job/phase"
	"fulmen/native/nativetest/testkit"
)

// before are the steps at which a rank still owes the others something.
func before() []jaccl.Step {
	return []jaccl.Step{jaccl.StepBegin, jaccl.StepOpen, jaccl.StepNumbered, jaccl.StepDescribed}
}

// runAll starts all programs; at is called at each step of one of them.
func (d *scenario) runAll(victim int, at func(p *program, s jaccl.Step)) (all []*program) {
	for rank := range d.plan {
		of := at
		if rank != victim {
			of = nil
		}
		all = append(all, d.run(ref(rank), d.open(ref(rank)), of))
	}
	return all
}

// stops stops a rank at a step, until on is closed.
func (d *scenario) stops(victim int, step jaccl.Step) (all []*program, on chan struct{}) {
	on = make(chan struct{})
	return d.runAll(victim, func(p *program, s jaccl.Step) {
		if s == step {
			select {
			case <-on:
			case <-p.ctx.Done():
			}
		}
	}), on
}

// A rank that is stopped is told to be waited for, wherever that happens: by what has
// come of each rank. It may go on later than any caller may be silent.
func TestWhoIsStoppedIsNamed(t *testing.T) {
	for _, step := range before() {
		for _, size := range []int{2, 4} {
			for victim := range size {
				t.Run(fmt.Sprintf("rank %d of %d at %s", victim, size, step), func(t *testing.T) {
					bubble(t, size, func(t *testing.T, d *scenario) {
						is := is.New(t)
						all, on := d.stops(victim, step)
						pass(50 * time.Second)
						is.Equal(d.handshake(ref(0)).Missing, []int{victim})
						close(on)
						pass(2 * time.Second)
						for rank, p := range all {
							p.joins(t)
							is.Equal(d.failure(ref(rank)), api.Reason(""))
						}
						is.Equal(len(d.handshake(ref(0)).Missing), 0)
					})
				})
			}
		}
	}
}

// Whatever befalls a start, the right rank and the right cause are named for it.
func TestFaultsOfTheStart(t *testing.T) {
	rounds := 40
	if os.Getenv("FULMEN_SOAK") != "" {
		rounds = 200
	}
	random := testkit.Drawn(t).Source(0)
	for round := range rounds {
		size := 2 + random.IntN(3)
		victim, step, in := random.IntN(size), before()[random.IntN(len(before()))], badInputs()[random.IntN(len(badInputs()))]
		what, run := "", func(*testing.T, *scenario) {}
		switch random.IntN(5) {
		case 0:
			what, run = fmt.Sprintf("rank %d of %d stops at %s", victim, size, step), func(t *testing.T, d *scenario) {
				d.stops(victim, step)
				pass(time.Duration(2+random.IntN(20)) * time.Second)
				is.New(t).Equal(d.handshake(ref(0)).Missing, []int{victim})
			}
		case 1:
			what, run = fmt.Sprintf("rank %d of %d dies at %s", victim, size, step), func(t *testing.T, d *scenario) {
				is.New(t).Equal(d.blamed(random, d.dies(t, victim, step)), victim)
			}
		case 2:
			victim = 1 + random.IntN(size-1)
			what, run = fmt.Sprintf("a stranger says %s to rank %d of %d", in.what, victim, size), func(t *testing.T, d *scenario) {
				d.unknownAt(victim, in)
				pass(5 * time.Second)
				all := d.runAll(0, nil)
				pass(5 * time.Second)
				for rank, p := range all {
					p.joins(t)
					is.New(t).Equal(d.failure(ref(rank)), api.Reason(""))
				}
			}
		case 3:
			what, run = fmt.Sprintf("a stranger says %s to rank 0 of %d", in.what, size), func(t *testing.T, d *scenario) {
				d.run(ref(0), d.open(ref(0)), nil)
				pass(tick)
				d.unknownAt(0, in)
				pass(time.Duration(random.IntN(1000)) * time.Millisecond)
				for rank := 1; rank < size; rank++ {
					d.start(ref(rank))
				}
				pass(5 * time.Second)
				why := d.failed(ref(0))
				is.New(t).True(why != nil && why.Data.Reason == api.ReasonStrayConnection)
				is.New(t).True(strings.HasPrefix(why.Message, "stranger (process ") || in.calls >= size-1)
			}
		default:
			victim = 1 + random.IntN(size-1)
			what, run = fmt.Sprintf("rank %d of %d says %s", victim, size, in.what), func(t *testing.T, d *scenario) {
				for rank := range size {
					if rank != victim {
						d.start(ref(rank))
					}
				}
				own, at := d.nodes[victim].network(), d.open(ref(victim))
				d.nodes[victim].spawned(ref(victim), own)
				d.reports(own, at, in, victim)
				pass(5 * time.Second)
				is.New(t).Equal(d.failure(ref(victim)), in.of)
				if in.of == "" {
					is.New(t).Equal(d.handshake(ref(0)).Missing, []int{victim})
				}
				own.kill()
			}
		}
		t.Run(fmt.Sprintf("%d: %s", round, what), func(t *testing.T) { bubble(t, size, run) })
	}
}

// unknownAt has a program that is no rank's say something at the port of one.
func (d *scenario) unknownAt(rank int, in badInput) {
	n := d.nodes[rank].network()
	at := d.open(ref(rank))
	d.programs = append(d.programs, &program{network: n})
	d.work.Go(func() { d.reports(n, at, in, rank) })
}

// death is the end of a rank, as its node tells of it.
type death struct {
	phase.RankEnded
	after time.Duration
}

// dies has a rank die at a step, and gives how those ended that did.
func (d *scenario) dies(t *testing.T, victim int, step jaccl.Step) (all []death) {
	code := 23
	killed := death{RankEnded: phase.RankEnded{Rank: victim, Exit: &api.Exit{Code: &code}}}
	programs := d.runAll(victim, func(p *program, s jaccl.Step) {
		if s == step {
			killed.after = d.clock.Boot()
			p.kill()
			channels := d.nodes[victim].channels
			h, _ := channels.Settle(p.ref)
			killed.Handshake, killed.Severed = h.State, h.Severed
			channels.Close(p.ref) // as when its node has seen its end
		}
	})
	pass(5 * time.Second)
	all = append(all, killed)
	for rank, p := range programs {
		if rank == victim || len(p.ended) == 0 {
			continue
		}
		e, code := <-p.ended, 1
		if e.err == nil {
			t.Fatalf("rank %d joined without rank %d", rank, victim)
		}
		h := d.handshake(ref(rank))
		all = append(all, death{phase.RankEnded{Rank: rank, Exit: &api.Exit{Code: &code}, Handshake: h.State, Severed: h.Severed}, e.after})
	}
	return all
}

// blamed is the rank that a job's home takes for the cause, in whatever order it hears
// of them, and by clocks that differ.
func (d *scenario) blamed(random *rand.Rand, ends []death) int {
	at := api.TimeOf(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	home := api.Principal{User: "u", Node: d.plan[0]}
	s, _ := phase.Accept(d.plan[0], api.Job{Principal: home}, phase.RulesOf(api.JobSpec{}, phase.DefaultTimes()), at)
	next := func(e phase.Event) { s, _ = phase.Next(s, at, e) }
	next(phase.Presence{Members: d.plan[:2], Reached: d.plan[:2]})
	plan := api.Plan{Backend: api.BackendJACCL, Shape: api.ShapeMesh}
	for rank, node := range d.plan {
		plan.Ranks = append(plan.Ranks, api.PlanRank{Rank: rank, Node: node, GPU: api.GPUExclusive})
	}
	next(phase.Planned{Plan: plan})
	for rank, node := range d.plan {
		next(phase.Granted{Attempt: 1, Rank: rank, Node: node})
	}
	next(phase.Preflighted{Attempt: 1})
	for rank := range d.plan {
		next(phase.RankAt{Attempt: 1, Rank: rank, Phase: api.RankHandshake, Handshake: api.HandshakeNone})
	}
	random.Shuffle(len(ends), func(i, k int) { ends[i], ends[k] = ends[k], ends[i] })
	for _, e := range ends {
		skew := time.Duration(random.IntN(100)-50) * time.Millisecond
		e.Attempt, e.At = 1, api.TimeOf(at.Add(e.after+skew))
		next(e.RankEnded)
	}
	if first := s.Job.Attempts[0].FirstFailed; first != nil {
		return *first
	}
	return -1
}
