package job

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer"
	"fulmen/native"
	"fulmen/native/nativetest/testkit"
)

// freeze stops a machine's daemon for a while, as SIGSTOP does: its timers ring, it hears
// and it answers only afterwards. Its ranks go on, and their leases run out.
func (m *machine) freeze(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.frozen != nil || !m.up {
		return
	}
	m.frozen = make(chan struct{})
	time.AfterFunc(d, func() {
		m.mu.Lock()
		close(m.frozen)
		m.frozen = nil
		m.mu.Unlock()
		m.notifyAgain()
	})
}

// waits waits while the machine's daemon is frozen.
func (m *machine) waits() {
	m.mu.Lock()
	frozen := m.frozen
	m.mu.Unlock()
	if frozen != nil {
		<-frozen
	}
}

// thaws does something once the machine's daemon runs.
func (m *machine) thaws(do func()) {
	m.mu.Lock()
	frozen := m.frozen
	m.mu.Unlock()
	if frozen == nil {
		do()
		return
	}
	go func() {
		<-frozen
		do()
	}()
}

// icy is a clock whose timers ring when the daemon runs.
type icy struct {
	native.Clock
	m *machine
}

func (c icy) AfterFunc(d time.Duration, f func()) native.Timer {
	return c.Clock.AfterFunc(d, func() { c.m.waits(); f() })
}

// icyPeers gives answers when the daemon runs.
type icyPeers struct {
	*peer.Peers
	m *machine
}

func (p icyPeers) Call(ctx context.Context, node api.NodeID, method string, params, result any) error {
	err := p.Peers.Call(ctx, node, method, params, result)
	p.m.waits()
	return err
}

// A home that is frozen for less than a lease costs nothing. One that is frozen for longer
// blames itself, and none of its Macs; and a job whose programs all ended well meanwhile
// has succeeded.
func TestAFrozenHomeBlamesNobody(t *testing.T) {
	for _, c := range []struct {
		program string
		frozen  time.Duration
		phase   api.JobPhase
	}{
		{"100s", 3 * time.Second, api.JobSucceeded}, {"100s", 17 * time.Second, api.JobSucceeded},
		{"20s", 17 * time.Second, api.JobSucceeded}, {"20s", 55 * time.Second, api.JobSucceeded},
		{"100s", 60 * time.Second, api.JobFailed},
	} {
		for _, size := range []int{1, 2} {
			in(t, 2, func(t *testing.T, w *world) { // of two none takes over
				is := is.New(t)
				a := w.nodes[0]
				id := a.submits(program(words("sleep", c.program), w.nodes[:size]...))
				a.until(id, api.JobRunning, time.Second)
				pass(7 * time.Second)
				a.freeze(c.frozen)
				job := a.until(id, c.phase, 3*time.Minute)
				is.Equal(len(job.Attempts), 1)
				if c.phase == api.JobFailed {
					is.Equal(job.Reason, api.ReasonLeaseExpired)
					is.True(strings.HasPrefix(job.Message, "mac-0, which keeps the job, slept or was stopped for 1m0"))
					is.Equal(code(t, job), 125)
				}
			})
		}
	}
}

// Daemons are frozen and killed at every moment, and whatever the job says of its attempts
// was so.
func TestVerdictsUnderFreezes(t *testing.T) {
	rounds := 40
	switch {
	case os.Getenv("FULMEN_SOAK") != "":
		rounds = 2000
	case testing.Short():
		rounds = 9
	}
	seed := testkit.Drawn(t)
	ends := map[string]int{}
	for round := range uint64(rounds) {
		in(t, 2+int(round%3), func(t *testing.T, w *world) {
			rng := seed.Source(round)
			a := w.nodes[rng.IntN(len(w.nodes))]
			r := program(words("sleep", fmt.Sprint(rng.IntN(90), "s")))
			r.Placement.Ranks, r.Retries = 1+rng.IntN(len(w.nodes)), rng.IntN(2)*3
			id := a.submits(r)
			touched := map[string]time.Duration{}
			for range 1 + rng.IntN(3) {
				pass([]time.Duration{3 * time.Millisecond, 100 * time.Millisecond, 20 * time.Second}[rng.IntN(3)] * time.Duration(rng.IntN(4)))
				m := w.nodes[rng.IntN(len(w.nodes))]
				away := time.Duration(1+rng.IntN(60)) * time.Second
				if rng.IntN(4) > 0 {
					m.freeze(away)
				} else {
					m.kill()
					time.AfterFunc(away, func() {
						if !m.isUp() {
							m.start()
						}
					})
				}
				touched[w.nameOf(m.id)] = max(touched[w.nameOf(m.id)], away)
				pass(time.Duration(rng.IntN(70)) * time.Second)
			}
			pass(10 * time.Minute)
			job := w.nodes[0].sees(id)
			if !job.Phase.Ended() {
				t.Fatalf("round %d: the job hangs in %s for %s %s", round, job.Phase, job.Reason, job.WaitingFor)
			}
			for _, at := range job.Attempts {
				ends[string(at.Reason)]++
				if wrong := blames(w, at, touched); wrong != "" {
					t.Fatalf("round %d: attempt %d, %s: %q, and touched were %v: %s", round, at.Attempt, at.Reason, at.Message, touched, wrong)
				}
			}
			if w.living(id) != 0 {
				t.Fatalf("round %d: an orphan runs", round)
			}
		})
	}
	t.Logf("attempts ended: %v", ends)
	if rounds >= 60 && (ends[""] < rounds/3 || len(ends) < 3) {
		t.Fatalf("%v: the test tests nothing", ends)
	}
}

// blames says what is wrong with why an attempt ended, where only so much was done; every
// program of these ends with 0 by itself.
func blames(w *world, at api.Attempt, touched map[string]time.Duration) string {
	if at.Reason == "" || at.EndedAt.IsZero() {
		return ""
	}
	var named []string
	for _, m := range w.nodes {
		if name := w.nameOf(m.id); strings.Contains(at.Message, name) {
			named = append(named, name)
		}
	}
	isUntouched := func(name string) bool { return touched[name] == 0 }
	switch at.Reason {
	case api.ReasonNodeLost, api.ReasonNodeUnreachable, api.ReasonHomeRestarted, api.ReasonRankLost:
		if len(named) == 0 || slices.ContainsFunc(named, isUntouched) {
			return "one is blamed that nobody touched"
		}
	case api.ReasonLeaseExpired:
		if strings.Contains(at.Message, "slept") && isUntouched(named[0]) {
			return "who is said to have slept did not"
		}
	case api.ReasonHomeLost:
		home, _, isReported := strings.Cut(at.Message, ", which kept the job, could not be reached, so ")
		if !isReported || isUntouched(home) {
			return "a home is said to be gone that was there"
		}
	case api.ReasonTakenOver, api.ReasonNoMajority:
	default:
		return "that was not done"
	}
	return ""
}
