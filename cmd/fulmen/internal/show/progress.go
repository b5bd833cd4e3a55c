package show

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Progress says in one line where a job is; empty for one of which nothing is
// known.
func (v View) Progress(j api.Job, ranks []api.Rank, n Names) string {
	where, over := "", ""
	if a := Current(j); a != nil && a.Plan != nil {
		where, over = n.List(a.Plan.Nodes()), overWords(*a.Plan)
	}
	why := explained(j.Reason, j.Message)
	waits := ""
	if j.WaitingFor != "" {
		waits = "waiting for " + j.WaitingFor
	}
	switch j.Phase {
	case api.JobQueued:
		return join(": ", "queued", join("; ", waits, why))
	case api.JobPlacing:
		return join("; ", failedBefore(j), join(": ", cmp.Or(waits, "looking for nodes"), why))
	case api.JobStarting:
		if j.WaitingFor != "" && why != "" {
			return join("; ", join(" on ", "starting", where), why)
		}
		return join("; ", join(" on ", "starting", where), preparing(j, ranks, n), waits)
	case api.JobHandshake:
		return handshakeWords(j, ranks, n)
	case api.JobRunning:
		return join("; ", join(" ", join(" on ", "running", where), over), choose(j.Reason == api.ReasonNotReady, "not ready: "+j.Message, ""),
			choose(j.Reason == api.ReasonStalled, why, ""), v.alone(j, ranks, n))
	case api.JobEnding:
		return join("; ", join(": ", "ending", why), waits)
	case api.JobBackoff:
		out := fmt.Sprintf("attempt %d %s", j.Attempt, failedWord(j.Reason))
		next := ""
		if !j.NextAttemptAt.IsZero() && j.NextAttemptAt.After(v.Now) {
			next = "the next one begins in " + text.Duration(j.NextAttemptAt.Sub(v.Now))
		}
		return join("; ", join(": ", out, why), next)
	case api.JobHomeLost:
		return join("; ", "its home, "+n.Of(j.Home)+", is lost", waits, why)
	}
	return join(": ", string(j.Phase), why)
}

// Notes are lines about a job that its owner has to know when it begins: what is
// most likely an oversight, and stops nothing.
func Notes(j api.Job) []string {
	a := Current(j)
	if a == nil || a.Plan == nil {
		return nil
	}
	var out []string
	for _, n := range a.Plan.Notes {
		if n.Reason == api.ReasonProgramMLXMissing { // the choice of a backend is for plans
			out = append(out, join(" ", sentence(n.Message), n.Remedy))
		}
	}
	return out
}

// alone names the ranks that have ended well while others go on, which is said after
// a while: those of a group end together.
func (v View) alone(j api.Job, ranks []api.Rank, n Names) string {
	early, rest := endedEarly(j, ranks)
	var out []string
	for _, r := range early {
		if v.Now.Sub(r.EndedAt.Time) >= aloneAfter {
			out = append(out, RankName(j, r.Rank, n))
		}
	}
	if len(out) == 0 || rest == 0 {
		return ""
	}
	return strings.Join(out, ", ") + choose(len(out) == 1, " has", " have") + " ended with exit code 0, " +
		choose(rest == 1, "the other rank goes on", fmt.Sprintf("%d ranks go on", rest))
}

// AloneReportIn is how long it takes until alone has something to say; 0 = it has, or
// nothing is known.
func (v View) AloneReportIn(j api.Job, ranks []api.Rank) (in time.Duration) {
	early, rest := endedEarly(j, ranks)
	for _, r := range early {
		if left := aloneAfter - v.Now.Sub(r.EndedAt.Time); rest > 0 && left > 0 && (in == 0 || left < in) {
			in = left
		}
	}
	return in
}

// aloneAfter is how long it is no news that a rank has ended.
const aloneAfter = 10 * time.Second

// endedEarly are the ranks that have ended with exit code 0, and how many go on.
func endedEarly(j api.Job, ranks []api.Rank) (early []api.Rank, rest int) {
	if j.Phase != api.JobRunning {
		return nil, 0
	}
	for _, r := range ranks {
		switch {
		case !r.Phase.Ended():
			rest++
		case r.Exit != nil && r.Exit.Code != nil && *r.Exit.Code == 0 && !r.EndedAt.IsZero():
			early = append(early, r)
		}
	}
	return early, rest
}

// RankName is a rank and where it runs.
func RankName(j api.Job, rank int, n Names) string {
	if where := nodeOfRank(j, rank, n); where != none {
		return fmt.Sprintf("rank %d on %s", rank, where)
	}
	return fmt.Sprintf("rank %d", rank)
}

// failedBefore says that the last attempt failed, and why, while the next is being
// placed.
func failedBefore(j api.Job) string {
	a := Current(j)
	if a == nil || a.EndedAt.IsZero() || a.StartedAt.IsZero() || a.Reason == "" {
		return ""
	}
	return fmt.Sprintf("attempt %d %s: %s", a.Attempt, failedWord(a.Reason), explained(a.Reason, a.Message))
}

// failedWord is what became of an attempt.
func failedWord(why api.Reason) string {
	return choose(why == api.ReasonPreempted, "was preempted", "failed")
}

// namesRank reports whether a sentence says of which rank it is.
func namesRank(sentence string, rank int) bool {
	return strings.Contains(strings.ToLower(sentence), fmt.Sprintf("rank %d ", rank))
}

// overWords say how the ranks of a plan talk.
func overWords(p api.Plan) string {
	if len(p.Ranks) < 2 {
		return ""
	}
	return "over " + string(p.Backend) + choose(p.Unencrypted, ", unencrypted", "")
}

// preparing says how far the copies of the job's model are, else which nodes are not as far
// as the others.
func preparing(j api.Job, ranks []api.Rank, n Names) string {
	var late, copies []string
	for _, r := range ranks {
		node := nodeOfRank(j, r.Rank, n)
		if r.Phase != api.RankPreparing || !r.PreparedAt.IsZero() || slices.Contains(late, node) {
			continue
		}
		if f := r.Fetching; f != nil && f.TotalBytes > 0 {
			left := given(f.LeftS, func(s float64) string { return text.Duration(time.Duration(s*float64(time.Second))) + " left" })
			copies = append(copies, join(", ", node+" "+text.Percent(float64(f.DoneBytes)/float64(f.TotalBytes)), choose(f.LeftS == nil, "", left)))
			continue
		}
		late = append(late, node)
	}
	if len(copies) > 0 {
		return "copying the model: " + strings.Join(copies, "; ")
	}
	if len(late) == 0 {
		return ""
	}
	return strings.Join(late, ", ") + " still " + choose(len(late) == 1, "prepares", "prepare")
}

// handshakeWords say how many ranks have connected, or joined, and for whom the group
// waits.
func handshakeWords(j api.Job, ranks []api.Rank, n Names) string {
	joined, all := 0, 0
	if a := Current(j); a != nil {
		joined = len(a.Joined)
		if a.Plan != nil {
			all = len(a.Plan.Ranks)
		}
	}
	out := fmt.Sprintf("handshake: %d of %d joined", joined, all)
	for _, r := range ranks {
		if r.Rank != 0 || r.Handshake == nil || len(r.Handshake.Missing) == 0 {
			continue
		}
		var missing []string
		for _, m := range r.Handshake.Missing {
			missing = append(missing, fmt.Sprintf("rank %d on %s", m, nodeOfRank(j, m, n)))
		}
		return fmt.Sprintf("handshake: %d of %d connected; waiting for %s", max(all-len(missing), 0), all, strings.Join(missing, ", "))
	}
	return join("; waiting for ", out, j.WaitingFor)
}

// Outcome says why a job did not succeed: the first cause in one sentence, the
// earlier attempts', and what to do next.
func Outcome(j api.Job, ranks []api.Rank, n Names) *api.Error {
	var spec api.JobSpec
	_ = json.Unmarshal(j.Spec, &spec) // the daemon has checked it
	job := spec.Job.String()
	reason := j.Reason
	a := Current(j)
	if a != nil && a.Reason != "" && (reason == "" || reason == api.ReasonRetriesSpent) {
		reason = a.Reason
	}
	message := j.Message
	if message == "" && a != nil {
		message = a.Message
	}
	e := api.Errorf(reason, job, "%s", sentence(explained(reason, message)))
	next := "See: fulmen job show " + job
	if a != nil && a.FirstFailed != nil {
		rank := *a.FirstFailed
		where := fmt.Sprintf("Rank %d on %s", rank, nodeOfRank(j, rank, n))
		switch how := howEnded(rank, ranks, a.ExitCode); {
		case ownWords(reason) && how != "":
			e.Message = where + " " + how + "."
		case !namesRank(e.Message, rank):
			e.Message = where + ": " + e.Message
		}
		next = fmt.Sprintf("See: fulmen job logs %s --rank %d", job, rank)
	}
	for first, last := range alikes(j.Attempts) {
		which, why := fmt.Sprintf("Attempt %d", last.Attempt), explained(last.Reason, last.Message)
		if last.Attempt > first.Attempt {
			which = fmt.Sprintf("Attempts %d to %d", first.Attempt, last.Attempt)
		}
		switch {
		case last.Attempt == j.Attempt && last.Attempt > first.Attempt:
			e.Data.Causes = append(e.Data.Causes, api.Cause{Reason: last.Reason, Message: which + " failed the same way."})
		case last.Attempt != j.Attempt && !last.Replanned && why != "":
			e.Data.Causes = append(e.Data.Causes, api.Cause{Reason: last.Reason, Message: which + ": " + why + "."})
		}
	}
	e.Data.WaitingFor = j.WaitingFor
	e.Data.Remedy = next
	if info, ok := api.LookupReason(reason); ok && !ownWords(reason) {
		if info.Command != "" {
			next = "See: " + info.Command // the cable, the Mac, the environment: what the rank printed tells nothing of it
		}
		e.Data.Remedy = next
		if info.Remedy != "" && !strings.Contains(e.Message, strings.TrimSuffix(info.Remedy, ".")) {
			e.Data.Remedy = info.Remedy + " " + next
		}
	}
	return e
}

// ownWords are the reasons that say no more than how the rank ended.
func ownWords(reason api.Reason) bool {
	return reason == "" || reason == api.ReasonRankFailed || reason == api.ReasonRankKilled || reason == api.ReasonRankCrashed
}

// howEnded is how a rank ended, as a part of a sentence.
func howEnded(rank int, ranks []api.Rank, status *int) string {
	for _, r := range ranks {
		if r.Rank != rank || r.Exit == nil {
			continue
		}
		switch e := r.Exit; {
		case e.OutOfMemory:
			return "was ended by the system because it used too much memory"
		case e.Signal != 0:
			return "was ended by " + signalName(e.Signal)
		case e.Code != nil:
			return fmt.Sprintf("ended with exit code %d", *e.Code)
		}
	}
	if status != nil {
		return fmt.Sprintf("ended with exit code %d", *status)
	}
	return ""
}

// signalName is SIGKILL for 9.
func signalName(n int) string {
	if name := unix.SignalName(unix.Signal(n)); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", n)
}

// sentence ends words with a full stop.
func sentence(s string) string {
	if s == "" {
		return "The job failed."
	}
	return strings.TrimSuffix(s, ".") + "."
}
