package show

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"fulmen/daemon/api"
)

// wholeJob is all about a job, as its owner has it.
type wholeJob struct {
	Job   api.Job    `json:"job"`
	Ranks []api.Rank `json:"ranks"`
}

// wholeOf gives a job its ranks, and an attempt for each that it is screenTexts to have had.
func (d *drawnCluster) wholeOf(j api.JobSummary, r *rand.Rand) wholeJob {
	ago := func(seconds int) api.Time { return api.TimeOf(d.now.Add(-time.Duration(seconds) * time.Second)) }
	spec, _ := json.Marshal(map[string]any{"job": j.Job, "name": j.Name, "max_attempts": 5, "retries": 3, "submitted_at": j.SubmittedAt, "program": map[string]any{"command": []string{"python", "train.py"}}, "placement": map[string]any{"backend": j.Backend}})
	whole := wholeJob{Job: api.Job{Spec: spec, Principal: j.Principal, Home: d.ids[r.IntN(len(d.ids))], Epoch: 1, Phase: j.Phase, PhaseSince: ago(60 + r.IntN(7000)), Reason: j.Reason, Message: j.Message,
		Attempt: j.Attempt, CountedAttempts: r.IntN(3), Retried: r.IntN(3), ExitCode: j.ExitCode, EndedAt: j.EndedAt}}
	plan := api.Plan{Backend: j.Backend, Shape: api.PlanShape(j.Backend)}
	for rank, id := range j.Nodes {
		plan.Ranks = append(plan.Ranks, api.PlanRank{Rank: rank, Node: id})
		one := api.Rank{Job: j.Job, Attempt: j.Attempt, Rank: rank, Phase: []api.RankPhase{api.RankGranted, api.RankPreparing, api.RankStarting, api.RankHandshake, api.RankRunning, api.RankEnding, api.RankExited, api.RankLost}[r.IntN(8)]}
		if r.IntN(3) == 0 {
			one.Message = fmt.Sprintf("Because of rank %d.", rank)
		}
		if one.Phase == api.RankHandshake {
			one.Handshake = &api.Handshake{State: []api.HandshakeState{"none", "held", "listening", "connected", "joined"}[r.IntN(5)]}
		}
		if one.Phase == api.RankRunning || one.Phase == api.RankExited {
			one.PID, one.SpawnedAt = 100+r.IntN(900), ago(3600+r.IntN(3600))
		}
		if one.Phase == api.RankExited {
			one.EndedAt, one.Usage = ago(r.IntN(3600)), &api.Usage{UserS: 61, SystemS: 2, MaxResidentBytes: int64(1+r.IntN(4000)) << 20}
			one.Exit = []*api.Exit{{Code: new(0)}, {Code: new(3)}, {Signal: 9}, {Signal: 9, OutOfMemory: true}}[r.IntN(4)]
		}
		whole.Ranks = append(whole.Ranks, one)
	}
	for n := 1; n <= j.Attempt; n++ {
		a := api.Attempt{Attempt: n, Plan: &plan, StartedAt: ago(10000 - 1000*n)}
		if n < j.Attempt {
			a.EndedAt, a.Reason, a.Message, a.ExitCode = ago(9500-1000*n), api.ReasonRankFailed, fmt.Sprintf("It ended, number %d.", n), new(n)
			a.FirstFailed, a.Uncounted = new(0), n%2 == 0
		}
		if n == j.Attempt && j.Phase.Ended() {
			a.EndedAt, a.ExitCode = ago(9500-1000*n), j.ExitCode
		}
		whole.Job.Attempts = append(whole.Job.Attempts, a)
	}
	return whole
}

// wantWholeJobs is what is to be screenTexts to the owners of jobs.
func (d *drawnCluster) wantWholeJobs(s screenTexts) {
	words := map[api.RankPhase]string{api.RankGranted: "Granted", api.RankPreparing: "Preparing", api.RankStarting: "Starting", api.RankHandshake: "Joining", api.RankRunning: "Running",
		api.RankEnding: "Ending", api.RankExited: "Exited", api.RankLost: "Lost"}
	joining := map[api.HandshakeState]string{"none": "has not dialled", "held": "waits for rank 0", "listening": "listens", "connected": "connected", "joined": "joined"}
	for _, summary := range d.jobs {
		one, is := d.whole[summary.Job]
		if !is {
			continue
		}
		j, id := one.Job, summary.Job
		of := func(known bool, text string) string { return either(known, text, "") }
		lines := []string{"Jobs /", summary.Name}
		joined := 0
		for _, r := range one.Ranks {
			phase, end, onPage, tone := string(r.Phase), "-", "", either(r.Phase == api.RankRunning, "accent", "plain")
			handshake, ran, memory, cpu := "–", "–", 0, "-"
			if r.Handshake != nil {
				phase += " " + string(r.Handshake.State)
				handshake = joining[r.Handshake.State]
				joined += either(r.Handshake.State == "joined", 1, 0)
			}
			switch e := r.Exit; {
			case r.Phase == api.RankLost:
				tone = "bad"
			case e == nil:
			case e.OutOfMemory:
				end, onPage, tone = "out of memory", "out of memory", "bad"
			case e.Code == nil:
				end, onPage, tone = "SIGKILL", "signal 9", "bad"
			default:
				end, onPage = fmt.Sprint(*e.Code), fmt.Sprintf("exit code %d", *e.Code)
				tone = either(*e.Code == 0, tone, "bad")
			}
			if !r.SpawnedAt.IsZero() {
				ran = span(d.seconds(r.SpawnedAt) - either(r.EndedAt.IsZero(), 0, d.seconds(r.EndedAt)))
			}
			if r.Usage != nil {
				memory, cpu = int(r.Usage.MaxResidentBytes>>20), "1 min 3 s"
			}
			mac, row := d.named(string(summary.Nodes[r.Rank])), fmt.Sprintf("ranks %s %d", id, r.Rank)
			s.add(mac, "%s NODE", row)
			s.add(phase+of(r.Message != "", ": "+strings.TrimSuffix(r.Message, ".")), "%s PHASE", row)
			s.add(either(r.Phase == api.RankRunning, onTerminal["good"], of(r.Phase == api.RankLost, onTerminal["bad"])), "%s PHASE colour", row)
			s.add(either(r.PID > 0, fmt.Sprint(r.PID), "-"), "%s PID", row)
			s.add(end, "%s EXIT", row)
			s.add(cpu, "%s CPU", row)
			s.add(either(memory > 0, binary(memory), "-"), "%s MEMORY", row)
			s.add("-", "%s PRINTED", row)
			s.add(fmt.Sprintf("%s | [badge %s]%s%s | %s |%s | %s | %s", mac, tone, words[r.Phase], of(r.Message != "", " "+r.Message), handshake, of(onPage != "", " "+onPage), ran, either(memory > 0, pageBytes(memory), "–")), "job %s /%d", id, r.Rank)
		}
		why, words := strings.TrimSuffix(j.Message, "."), phaseWords[j.Phase]
		badge, tone := words[0], words[2]
		switch {
		case j.Phase == api.JobHandshake:
			badge += fmt.Sprintf(" %d of %d", summary.Joined, summary.Ranks)
		case j.Reason == api.ReasonStalled:
			badge, tone = "Stalled", "warn"
		case j.Reason == api.ReasonNotReady:
			badge, tone = "Not ready", "warn"
		}
		for n, a := range j.Attempts {
			row, took, exit, because := fmt.Sprintf("attempts %s %d", id, a.Attempt), "-", "-", "-"
			if n+1 < len(j.Attempts) {
				took, exit, because = "8 min 20 s", fmt.Sprint(n+1), fmt.Sprintf("rank 0: It ended, number %d", n+1)+of(a.Uncounted, " (not counted)")
			}
			if n+1 == len(j.Attempts) && j.Phase.Ended() {
				took, exit = "8 min 20 s", fmt.Sprint(*j.ExitCode)
			}
			s.add(a.StartedAt.UTC().Format("15:04:05.000"), "%s STARTED", row)
			s.add(took, "%s TOOK", row)
			s.add(exit, "%s EXIT", row)
			s.add(because, "%s WHY IT ENDED", row)
		}
		since := span(d.seconds(j.PhaseSince))
		s.add(string(j.Phase)+either(j.Phase.Ended(), " "+since+" ago", " for "+since)+of(j.Attempt > 1, fmt.Sprintf(", attempt %d", j.Attempt)), "job %s: phase", id)
		s.add(why, "job %s: because", id)
		s.add(d.named(string(j.Home)), "job %s: home", id)
		counted := of(j.CountedAttempts > 0, fmt.Sprintf("%d of 5 that count", j.CountedAttempts))
		s.add(written(", ", counted, of(j.Retried > 0, fmt.Sprintf("%d of 3 after all had joined", j.Retried))), "job %s: tries", id)
		if j.ExitCode != nil {
			s.add(fmt.Sprint(*j.ExitCode), "job %s: exit", id)
			s.add(fmt.Sprint(*j.ExitCode), "job %s /Exit code", id)
		}
		s.add("python train.py", "job %s /Command", id)
		s.add("ada@m0", "job %s /Of", id)
		s.add(summary.SubmittedAt.UTC().Format("15:04:05"), "job %s /Submitted", id)
		s.add(string(summary.Backend), "job %s /Backend", id)
		s.add(d.named(string(j.Home)), "job %s /Home", id)
		lines = append(lines, "[badge "+tone+"]"+badge, j.Message, "Ranks")
		if j.Phase == api.JobHandshake {
			lines = append(lines, fmt.Sprintf("Handshake %d of %d", joined, len(one.Ranks)), fmt.Sprintf("[bar accent %d]", halfUp(100*float64(joined)/float64(len(one.Ranks)))))
		}
		lines = append(lines, "History")
		if len(j.Attempts) > 1 {
			lines = append(lines, fmt.Sprintf("%d of 5 that may fail before all ranks have joined; %d of 3 retries after that", j.CountedAttempts, j.Retried))
		}
		for n := len(j.Attempts) - 1; n >= 0; n-- {
			a := j.Attempts[n]
			if !a.EndedAt.IsZero() {
				how := cmp.Or(a.Message, fmt.Sprintf("exit code %d", valueOf(a.ExitCode)))
				lines = append(lines, fmt.Sprintf("%s Attempt %d ended: %s%s", a.EndedAt.UTC().Format("15:04:05"), a.Attempt, how, of(a.Uncounted, " (does not count)")))
			}
			lines = append(lines, fmt.Sprintf("%s Attempt %d starts on %s", a.StartedAt.UTC().Format("15:04:05"), a.Attempt, d.names(summary.Nodes)))
		}
		s.add(written("\n", lines...), "job %s", id)
	}
}
