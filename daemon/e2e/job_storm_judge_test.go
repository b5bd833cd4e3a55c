package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/e2e/testcluster"
)

// judge holds what all Macs say of a job, and what came of its output, against what was
// done.
func (s *storm) judge(t *testing.T, one *stormy) {
	t.Helper()
	if s.isLost(t, one) {
		s.tally["lost with the only database that had it"]++
		return
	}
	job, _ := s.until(t, one.at, one.id, "end", after+3*s.work, hasEnded) // it may be run again
	for _, n := range s.Nodes {
		job, _ = s.until(t, n, one.id, "same end as "+one.at.Mac+" tells", after, func(there api.Job, _ []api.Rank) bool {
			return there.Phase == job.Phase && there.Reason == job.Reason && there.Message == job.Message && there.Attempt == job.Attempt &&
				there.Epoch == job.Epoch && there.ExitCode != nil && *there.ExitCode == *job.ExitCode
		})
	}
	var wrong []string
	reports := func(what, problem string) {
		if problem != "" {
			wrong = append(wrong, what+": "+problem)
		}
	}
	for _, at := range job.Attempts {
		reports(fmt.Sprintf("attempt %d, %s %q", at.Attempt, at.Reason, at.Message), s.blames(one, job, at))
		t.Logf("%s %s attempt %d: %s %s", one.name, one.id, at.Attempt, at.Reason, at.Message)
		s.tally["attempts "+string(at.Reason)]++
	}
	// What the job says of itself is held against its last attempt, or against all that was done.
	end := api.Attempt{Attempt: job.Attempt, Reason: job.Reason, Message: job.Message, ExitCode: job.ExitCode}
	if len(job.Attempts) > 0 {
		end.FirstFailed, end.Plan = job.Attempts[len(job.Attempts)-1].FirstFailed, job.Attempts[len(job.Attempts)-1].Plan
	}
	reports("the job", s.blames(one, job, end))
	reports("the job", s.ends(one, job))
	s.tally["jobs"]++
	s.tally["jobs "+string(job.Phase)]++
	if job.Phase == api.JobSucceeded {
		reports("its output", s.prints(t, one, job))
	}
	if one.client != nil {
		reports("its client", s.shows(t, one, job))
	}
	if len(wrong) > 0 {
		s.tally["wrong"]++
		text, _ := json.MarshalIndent(job, "", " ")
		t.Errorf("%s:\n%s\nwhat was done: %v\n%s", one.name, strings.Join(wrong, "\n"), s.deeds, text)
	}
}

// isLost reports whether nobody knows a job any more since the database was damaged of the
// Mac where it was submitted, before that had told anybody.
func (s *storm) isLost(t *testing.T, one *stormy) bool {
	if !s.touched(one.at.Mac, api.RankRef{}, blowDamage) {
		return false
	}
	return !slices.ContainsFunc(s.Nodes, func(n *testcluster.Node) bool {
		_, _, err := jobOf(t.Context(), n.Client, one.id)
		return !errors.Is(err, api.ReasonNoSuchJob)
	})
}

// touched reports whether one of some things was done to a Mac, or to its ranks of an
// attempt; none named: anything.
func (s *storm) touched(mac string, of api.RankRef, blows ...blow) bool {
	return slices.ContainsFunc(s.deeds, func(d deed) bool {
		mine := d.ref == (api.RankRef{}) || d.ref.Job == of.Job && d.ref.Attempt == of.Attempt
		isHarmless := (d.blow == blowFreeze || d.blow == blowSleep) && d.lasts < s.harmless
		return d.node.Mac == mac && mine && !isHarmless && (len(blows) == 0 || slices.Contains(blows, d.blow))
	})
}

// named are the Macs that a sentence is about. Where ranks were placed, and who keeps the
// job, is told of all.
func (s *storm) named(text string) (all []*testcluster.Node) {
	text, _, _ = strings.Cut(text, " Its ranks were placed on ")
	for _, n := range s.Nodes {
		if strings.Contains(text, n.Mac) && !strings.HasSuffix(text, n.Mac+" keeps the job.") {
			all = append(all, n)
		}
	}
	return all
}

// blames says what is wrong with why an attempt, or the job, ended.
func (s *storm) blames(one *stormy, job api.Job, at api.Attempt) string {
	of := api.RankRef{Job: one.id, Attempt: at.Attempt}
	named := s.named(at.Message)
	isTouched := func(blows ...blow) func(*testcluster.Node) bool {
		return func(n *testcluster.Node) bool { return s.touched(n.Mac, of, blows...) }
	}
	unlike := func(blows ...blow) bool {
		return slices.ContainsFunc(named, func(n *testcluster.Node) bool { return !isTouched(blows...)(n) })
	}
	rank, mac := -1, ""
	if at.FirstFailed != nil {
		rank = *at.FirstFailed
		if at.Plan != nil && rank < len(at.Plan.Ranks) {
			mac = s.macOf(at.Plan.Ranks[rank].Node)
		}
	}
	away := []blow{blowKill, blowFreeze, blowSleep, blowCut, blowDamage}
	wasCut := slices.ContainsFunc(s.Nodes, isTouched(blowCut))
	switch at.Reason {
	case "":
		for _, d := range s.deeds {
			if d.blow == blowRank && d.ref.Job == of.Job && d.ref.Attempt == of.Attempt {
				return "its rank was killed"
			}
		}
		return ""
	case api.ReasonStoppedByPerson:
		if !one.stopped {
			return "nobody stopped it"
		}
		return ""
	case api.ReasonRankFailed:
		if one.code == 0 || rank != one.ranks-1 || at.ExitCode == nil || *at.ExitCode != one.code {
			return "that is not how its programs end"
		}
		if at.Message != fmt.Sprintf("Rank %d on %s ended with exit code %d.", rank, mac, one.code) && mac != "" {
			return "it does not name the rank, its Mac and the code"
		}
		return ""
	case api.ReasonRankKilled:
		if !s.struck(of, rank, blowRank, blowShim) {
			return "its rank was not killed"
		}
		if !strings.Contains(at.Message, fmt.Sprintf("ank %d on %s", rank, mac)) || !strings.Contains(at.Message, "SIGKILL") {
			return "it does not name the rank, its Mac and the signal"
		}
		return ""
	case api.ReasonSideChannelLost:
		if !one.isJACCL || len(named) != 2 || !slices.ContainsFunc(named, isTouched(away...)) {
			return "it does not name the two ends of what was broken"
		}
		return "" // the rank is the one that noticed
	case api.ReasonRankLost:
		if !s.struck(of, rank, blowShim) && (len(named) == 0 || unlike(blowKill, blowSleep, blowDamage)) {
			return "what held it was not killed"
		}
	case api.ReasonHomeRestarted, api.ReasonDaemonRestarted, api.ReasonGrantRefused:
		if len(named) == 0 || unlike(blowKill, blowDamage) {
			return "one is blamed whose daemon was not killed"
		}
	case api.ReasonSpawnFailed: // before it could say anything
		if !s.struck(of, rank, blowShim) {
			return "what starts it was not killed"
		}
	case api.ReasonLeaseExpired:
		for reports, was := range map[string][]blow{
			"slept or was stopped": {blowFreeze, blowSleep}, "could not write to its disk": {blowFill},
			"ended and was started again": {blowKill, blowDamage}, "did not answer": away,
		} {
			if strings.Contains(at.Message, reports) && !slices.ContainsFunc(named, isTouched(was...)) {
				return "nobody named there " + reports
			}
		}
		if !slices.ContainsFunc(named, isTouched(append(away, blowFill)...)) {
			return "nothing was done to any of those"
		}
	case api.ReasonNodeLost, api.ReasonNodeUnreachable, api.ReasonUnreachable, api.ReasonDeadline:
		if strings.Contains(at.Message, "login shell") && at.Uncounted {
			return "" // on a machine so busy that it takes seconds; it is asked again
		}
		// Who is cut off loses all others out of sight.
		byCut := wasCut && s.touched(s.macOf(job.Home), of, blowCut) || slices.ContainsFunc(job.Homes, func(h api.Succession) bool { return s.touched(s.macOf(h.Home), of, blowCut) }) ||
			s.touched(s.macOf(job.Principal.Node), of, blowCut)
		if len(named) == 0 || unlike(away...) && !byCut {
			return "one is blamed to whom nothing was done"
		}
	case api.ReasonHomeLost, api.ReasonTakenOver, api.ReasonNoMajority:
		of, _, _ := strings.Cut(at.Message, ", so that ") // whoever took over follows
		if named = s.named(of); len(s.deeds) == 0 || unlike(away...) {
			return "nothing of that kind was done"
		}
	case api.ReasonLinkGone, api.ReasonLinkDown, api.ReasonAddressLost, api.ReasonRDMANotReady:
		// A home that was just started again knows a cable by one of its ends.
		byItsEnd := wasCut && strings.HasPrefix(at.Message, "The link of ")
		if !byItsEnd && !slices.ContainsFunc(named, isTouched(blowCut)) {
			return "no cable of those was pulled"
		}
	case api.ReasonHomeForgot:
		if len(named) == 0 || unlike(blowDamage) {
			return "the database of those was not damaged"
		}
		return ""
	case api.ReasonDiskFull:
		if len(named) == 0 || unlike(blowFill) {
			return "no disk of those was full"
		}
	default:
		return "that was not done"
	}
	if mac != "" && !s.touched(mac, of) && !wasCut {
		return "the rank that failed first is on a Mac to which nothing was done"
	}
	return ""
}

// macOf is a Mac's name in the scenario.
func (s *storm) macOf(id api.NodeID) string {
	for _, n := range s.Nodes {
		if n.ID == id {
			return n.Mac
		}
	}
	return ""
}

// struck reports whether a process of a rank was killed.
func (s *storm) struck(of api.RankRef, rank int, blows ...blow) bool {
	return slices.ContainsFunc(s.deeds, func(d deed) bool {
		return d.ref.Job == of.Job && d.ref.Attempt == of.Attempt && d.ref.Rank == rank && slices.Contains(blows, d.blow)
	})
}

// ends says what is wrong with how the job ended.
func (s *storm) ends(one *stormy, job api.Job) string {
	var harm []deed // that may have done anything to it
	for _, d := range s.deeds {
		if (d.ref == (api.RankRef{}) || d.ref.Job == one.id) && ((d.blow != blowFreeze && d.blow != blowSleep) || d.lasts >= s.harmless) {
			harm = append(harm, d)
		}
	}
	code := *job.ExitCode
	switch {
	case job.Phase == api.JobSucceeded && code != 0, job.Phase == api.JobFailed && code == 0:
		return fmt.Sprintf("it has %s with %d", job.Phase, code)
	case job.Phase == api.JobSucceeded && one.code != 0:
		return fmt.Sprintf("it has succeeded, and its program ends with %d", one.code)
	case job.Phase == api.JobStopped && !one.stopped:
		return "nobody stopped it"
	case job.Reason == api.ReasonRankFailed && code != one.code:
		return fmt.Sprintf("its status is %d, and its program's %d", code, one.code)
	case job.Reason == api.ReasonRankKilled && code != 128+int(syscall.SIGKILL):
		return fmt.Sprintf("its status is %d after SIGKILL", code)
	case len(harm) > 0 || one.stopped:
		return ""
	case one.code == 0 && job.Phase != api.JobSucceeded, one.code != 0 && job.Reason != api.ReasonRankFailed, job.Attempt > 1 && one.code == 0:
		return fmt.Sprintf("it has %s in attempt %d, and nothing was done to it", job.Phase, job.Attempt)
	}
	return ""
}

// misses says what is not once in what the ranks of an attempt printed.
func (one *stormy) misses(text string, attempt int) string {
	// Its ranks say the same in each attempt.
	if got := strings.Count(text, "step joined\n"); one.isJACCL && (got < one.ranks || got > one.ranks*attempt) {
		return fmt.Sprintf("%d of %d ranks say that they have joined", got, one.ranks)
	}
	for rank := range one.ranks {
		for n := range one.lines {
			line := fmt.Sprintf("count %d of rank %d at %d\n", n, rank, attempt)
			if got := strings.Count(text, line); got != 1 {
				return fmt.Sprintf("%q is there %d times", line, got)
			}
		}
	}
	return ""
}

// prints says what is missing of the output of a job that has succeeded, or is there
// twice. What a full disk did not take, and a Mac whose database was damaged does not
// know, is told.
func (s *storm) prints(t *testing.T, one *stormy, job api.Job) (wrong string) {
	t.Helper()
	deadline := time.Now().Add(after)
	for {
		got := end(t, s.fulmen(t.Context(), one.at, "job", "logs", string(one.id)))
		wrong = one.misses(got.out, job.Attempt)
		if wrong == "" || got.err != "" && slices.ContainsFunc(s.deeds, func(d deed) bool { return d.blow == blowFill || d.blow == blowDamage }) {
			return ""
		}
		if time.Now().After(deadline) {
			return wrong + " in: " + cut(got.out) + cut(got.err)
		}
		pause()
	}
}

// shows says what is wrong with what the attached client showed.
func (s *storm) shows(t *testing.T, one *stormy, job api.Job) string {
	t.Helper()
	status := one.client.status(t, after)
	text := one.client.until(t, "its end", func(string) bool { return true })
	missing := one.misses(text, job.Attempt)
	switch {
	case job.Phase == api.JobSucceeded && status == 0 && missing != "" && !strings.Contains(text, "disk"):
		return "it ended with 0, and " + missing + " in: " + cut(text)
	case job.Phase == api.JobSucceeded && status != 0 && status != api.ExitNotStarted:
		return fmt.Sprintf("it ended with %d, and the job succeeded: %s", status, cut(text))
	case job.Phase != api.JobSucceeded && status != *job.ExitCode && !s.touched(one.at.Mac, api.RankRef{Job: one.id}, blowDamage):
		return fmt.Sprintf("it ended with %d, and the job with %d: %s", status, *job.ExitCode, cut(text))
	case status != 0 && !strings.Contains(text, "fulmen: "):
		return "it does not say why it ended: " + cut(text)
	}
	return ""
}
