package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/testcluster"
	"fulmen/native/nativetest/testkit"
)

// weather is the times with which a storm blows.
type weather struct {
	config string
	// longest is how long a Mac is frozen, cut off or full at most, and harmless how long
	// it may be so without that anything may come of it.
	longest, harmless time.Duration
	// work is how long programs run at most.
	work time.Duration
}

// tenfold are the times of the configuration shortened tenfold, but for those that a
// busy machine needs to run a daemon at all.
func tenfold() weather {
	return weather{"[times]\nlease = \"3s\"\nlease_renewal = \"500ms\"\nbeat = \"100ms\"\nbeat_lost = \"2s\"\ngrace = \"1s\"\nfailed_grace = \"500ms\"\nstarting = \"6s\"\nhandshake = \"6s\"\n",
		6 * time.Second, time.Second, 3 * time.Second}
}

// unhurriedWeather are the times that people have.
func unhurriedWeather() weather {
	return weather{"", time.Minute, api.DefaultBeatLost / 2, 30 * time.Second}
}

// stormy is a job of a storm, with the end that it has in fair weather.
type stormy struct {
	id      api.JobID
	name    string
	at      *testcluster.Node // where it was submitted
	ranks   int
	isJACCL bool // it is the stand-in of a program that uses JACCL
	lines   int  // that each rank prints, otherwise
	code    int  // with which its last rank ends, and all others with 0
	stopped bool
	client  *live // nil: it is detached
}

// storm is a cluster in one.
type storm struct {
	*jobs
	weather
	random  *rand.Rand
	standin string
	small   *testcluster.Node // whose disk can be filled; nil where nobody can do that
	deeds   []deed
	tally   map[string]int
}

// TestJobsInAStorm does to real daemons and their jobs what Macs go through: kills,
// sleep, cuts, full disks, damaged databases. Whatever a job then says of its end was so:
// nobody is named to whom nothing was done, no line is lost or doubled in silence,
// nothing stays behind, and all Macs agree. FULMEN_SEED=N gives a seed back.
func TestJobsInAStorm(t *testing.T) {
	t.Parallel() // it mostly waits
	needJobs(t)
	seed := testkit.Drawn(t)
	rounds, err := strconv.Atoi(os.Getenv("FULMEN_SOAK"))
	switch {
	case err != nil:
		brief := tenfold()
		brief.longest, brief.work = brief.longest/3, brief.work/2
		newStorm(t, brief, seed).blows(t, 0)
		return
	case rounds == 1:
		rounds = 500
	}
	t.Run("shortened", func(t *testing.T) { newStorm(t, tenfold(), seed).blows(t, rounds) })
	t.Run("as people have it", func(t *testing.T) { newStorm(t, unhurriedWeather(), seed).blows(t, min(rounds, 20)) })
}

func newStorm(t *testing.T, w weather, seed testkit.Seed) *storm {
	t.Helper()
	s := &storm{jobs: newJobs(t, 3, w.config), weather: w, random: seed.Source(0), tally: map[string]int{}}
	s.standin = s.buildStandin()
	if s.ontoSmallDisk(t, s.Nodes[1], 64<<20) {
		s.small = s.Nodes[1]
	}
	must(t, "a whole cluster", s.Whole(t.Context()))
	return s
}

// blows goes through so many rounds; 0: one of each kind but of damaged databases, which
// TestDamagedDatabase has.
func (s *storm) blows(t *testing.T, rounds int) {
	tame := [][]blow{{blowKill, blowShim, blowFill}, {blowFreeze, blowCut}, {blowSleep, blowRank}}
	wild := []blow{blowKill, blowKill, blowFreeze, blowFreeze, blowSleep, blowSleep, blowCut, blowFill, blowDamage, blowShim, blowGuard, blowRank}
	for round := range max(rounds, len(tame)) {
		var kinds []blow
		if rounds == 0 {
			kinds = tame[round]
		} else {
			for range 1 + max(0, s.random.IntN(4)-1) {
				kinds = append(kinds, wild[s.random.IntN(len(wild))])
			}
		}
		isOver := false
		t.Run(fmt.Sprintf("%d: %v", round, kinds), func(t *testing.T) {
			s.round(t, kinds)
			isOver = true
		})
		if !isOver {
			t.FailNow() // the next round begins where this one ends
		}
	}
	t.Logf("%v", s.tally)
}

// round lets some jobs begin, does things to their Macs, and looks what the jobs say.
func (s *storm) round(t *testing.T, kinds []blow) {
	s.deeds = nil
	var all []*stormy
	for n := range 1 + s.random.IntN(2) {
		all = append(all, s.submit(t, n))
	}
	s.comesTo(t, all[0])
	s.happens(t, kinds)
	ctx, cancel := context.WithTimeout(t.Context(), after)
	defer cancel()
	must(t, "a whole cluster", s.Whole(ctx))
	for _, one := range all {
		s.judge(t, one)
	}
	s.leavesNothing(t)
	eventually(t, "end of all that holds ranks", after, func() bool { return len(s.shims(t)) == 0 })
	for _, one := range all { // so that a thousand of them take no more room than two
		if _, err := client.Call[api.Empty](t.Context(), one.at.Client, "job.delete", api.JobDeleteParams{Job: one.id}); !errors.Is(err, api.ReasonNoSuchJob) {
			must(t, "forgetting it", err)
		}
	}
	for _, d := range s.deeds {
		s.tally[string(d.blow)]++
	}
	s.tally["rounds"]++
}

// submit submits a job at some Mac.
func (s *storm) submit(t *testing.T, n int) *stormy {
	t.Helper()
	one := &stormy{name: fmt.Sprintf("storm-%d-%d", s.tally["rounds"], n), at: s.Nodes[s.random.IntN(3)], ranks: 1 + s.random.IntN(3)}
	args := []string{"-n", strconv.Itoa(one.ranks), "--name", one.name, "--gpu", "shared", "--rank0", s.Nodes[s.random.IntN(3)].Mac}
	if s.random.IntN(2) == 0 {
		args = append(args, "--retries", "2")
	}
	if s.random.IntN(4) == 0 {
		args = append(args, "--prepare", fmt.Sprintf("sleep 0.%d # %s", s.random.IntN(10), one.name))
	}
	if one.ranks > 1 && s.random.IntN(3) == 0 {
		one.isJACCL = true
		late := fmt.Sprintf("%d:%dms", s.random.IntN(one.ranks), s.random.IntN(1500))
		args = append(args, "--backend", "jaccl", "--", s.standin, "-late", late, "-work", s.anytime(s.work).String())
	} else {
		one.lines = int(s.anytime(s.work) / (50 * time.Millisecond)) // as many as it prints
		args = append(args, "--backend", "ring", "--allow-solo", "--", s.Program("counts.sh"), strconv.Itoa(one.lines))
		if s.random.IntN(4) == 0 {
			one.code = 1 + s.random.IntN(100)
			args = append(args, strconv.Itoa(one.code), strconv.Itoa(one.ranks-1))
		}
	}
	if s.random.IntN(2) == 0 {
		one.id = s.detached(t, one.at, args...)
		return one
	}
	one.client = begin(t, s.fulmen(t.Context(), one.at, append([]string{"run", "--stdin", "none"}, args...)...))
	eventually(t, "job "+one.name, after, func() bool {
		list, err := client.Call[api.JobListResult](t.Context(), one.at.Client, "job.list", api.JobListParams{Ended: true})
		must(t, "the jobs", err)
		for _, job := range list.Jobs {
			if job.Name == one.name {
				one.id = job.Job
			}
		}
		return one.id != ""
	})
	return one
}

// comesTo waits until a job has come to some phase, or has ended; or has a person stop it.
func (s *storm) comesTo(t *testing.T, one *stormy) {
	t.Helper()
	phases := []api.JobPhase{api.JobQueued, api.JobStarting, api.JobHandshake, api.JobRunning, api.JobEnding}
	wanted := s.random.IntN(len(phases))
	s.until(t, one.at, one.id, string(phases[wanted]), timeout, func(job api.Job, _ []api.Rank) bool {
		return job.Phase.Ended() || wanted == 0 || slices.Index(phases, job.Phase) >= min(wanted, 3)
	})
	if phases[wanted] == api.JobEnding {
		_, err := client.Call[api.Empty](t.Context(), one.at.Client, "job.stop", api.JobStopParams{Job: one.id})
		one.stopped = err == nil // it may have ended
	}
}

// anytime is some time below the most.
func (s *storm) anytime(most time.Duration) time.Duration {
	return time.Duration(s.random.Int64N(int64(most))).Round(time.Millisecond)
}
