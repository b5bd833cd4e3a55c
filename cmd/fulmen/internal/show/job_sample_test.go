package show

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

const sampleJob = api.JobID("j4k2m9xq7")

// called are the nodes of the samples.
func called() map[api.NodeID]string {
	return map[api.NodeID]string{studio: "mac-studio", mini: "mac-mini"}
}

func ada() api.Principal { return api.Principal{User: "ada", Node: studio} }

// jobScreens are the golden files about jobs.
func jobScreens(t *testing.T) map[string]func(*Page) {
	view, wide := View{Now: now()}, View{Now: now(), Wide: true}
	failed, ranks := failedJob(t)
	return map[string]func(*Page){
		"jobs":      func(w *Page) { view.Jobs(w, jobList(), true, called()) },
		"jobs_wide": func(w *Page) { wide.Jobs(w, jobList(), true, called()) },
		"jobs_none": func(w *Page) { view.Jobs(w, nil, false, nil) },
		"job":       func(w *Page) { view.Job(w, failed, ranks, called()) },
		"job_running": func(w *Page) {
			j, ranks := runningJob(t)
			wide.Job(w, j, ranks, called())
			silent := func(since time.Time, unknown map[string]api.Reason) api.Document {
				return doc(t, studio, api.KindRank, api.Rank{Job: sampleJob, Attempt: 1, Phase: api.RankRunning, SilentSince: api.TimeOf(since)}, unknown)
			}
			long, short := silent(now().Add(-23*time.Minute), nil), silent(now().Add(-12*time.Minute), nil)
			wide.SilentCables(w, []api.Document{long, short, long})
			wide.SilentCables(w, []api.Document{long, doc(t, mini, api.KindRank, api.Rank{Job: sampleJob, Attempt: 1, Phase: api.RankRunning}, nil)}) // one is not
			wide.SilentCables(w, []api.Document{long, doc(t, mini, api.KindRank, api.Rank{Job: sampleJob, Attempt: 1, Phase: api.RankExited}, nil)})
			wide.SilentCables(w, []api.Document{long, silent(time.Time{}, map[string]api.Reason{"silent_since": api.ReasonNotSupportedByPlatform})})
		},
		"job_strange": func(w *Page) {
			view.Job(w, api.Job{Spec: json.RawMessage(`{"name":"a\u001b[2J"}`), Phase: "future", Message: "\x1b[2J.", Home: mini}, nil, nil)
		},
		"published": func(w *Page) {
			at := netip.MustParseAddrPort
			ports := []api.PublishedPort{
				{Port: 8080}, {Port: 8081, Addresses: []netip.AddrPort{at("127.0.0.1:8081")}},
				{Port: 8082, LAN: true, Addresses: []netip.AddrPort{at("192.168.1.5:8082"), at("[fe80::1%en0]:8082")}, Key: "s3cret"},
				{Port: 8083, Problem: &api.Cause{Reason: api.ReasonPortTaken, Message: "Port 8083 is held by another program."}},
			}
			for _, line := range view.PublishedLines(ports) {
				fmt.Fprintln(w, line)
			}
			view.Published(w, ports)
		},
		"plan":      func(w *Page) { view.Plan(w, api.JobPlanResult{Plan: samplePlan()}, called()) },
		"plan_wide": func(w *Page) { wide.Plan(w, api.JobPlanResult{Plan: samplePlan()}, called()) },
		"plan_shares": func(w *Page) {
			p := samplePlan()
			p.Ranks[0].ShareRatio, p.Ranks[0].MemoryBytes, p.Ranks[1].ShareRatio, p.Ranks[1].MemoryBytes = .666667, 32<<30, .333333, 16<<30
			view.Plan(w, api.JobPlanResult{Plan: p}, called())
		},
		"plan_model": func(w *Page) {
			p := samplePlan()
			p.Model = &api.PlanModel{Model: "mlx-community/Qwen3-32B-4bit", Revision: "0123456789abcdef0123456789abcdef01234567", WeightsBytes: ptr(int64(17 << 30))}
			p.Notes = []api.Cause{{Reason: api.ReasonNoSuchModel, Message: "macbook has no mlx-community/Qwen3-32B-4bit, so it is left out",
				Remedy: "On macbook, run: fulmen models copy mlx-community/Qwen3-32B-4bit --from mac-studio"}}
			view.Plan(w, api.JobPlanResult{Plan: p}, called())
		},
		"plan_none": func(w *Page) { view.Plan(w, noPlan(), called()) },
		"env":       func(w *Page) { view.Preflight(w, preflight(), called()) },
		"env_wide":  func(w *Page) { wide.Preflight(w, preflight(), called()) },
		"plan_range": func(w *Page) {
			p := noPlan()
			p.MaxNodes = 4
			view.Plan(w, p, called())
		},
		"plan_beside": func(w *Page) { view.Plan(w, api.JobPlanResult{Plan: besidePlan()}, called()) },
		"env_alike": func(w *Page) {
			p := api.JobPreflightResult{Nodes: preflight().Nodes[:1]}
			view.Preflight(w, p, called())
		},
	}
}

func samplePlan() *api.Plan {
	return &api.Plan{
		Backend: api.BackendRing, Shape: api.ShapeRing, ProvenBest: true, Unencrypted: true,
		Ranks: []api.PlanRank{
			{Rank: 0, Node: studio, MemoryBytes: 24 << 30, GPU: api.GPUExclusive},
			{Rank: 1, Node: mini, MemoryBytes: 24 << 30, GPU: api.GPUExclusive},
		},
		Links: []api.PlanLink{{From: 0, To: 1, Kind: api.LinkTB5, BitsPerS: ptr(int64(52.6e9)), Measured: true}},
		Used: []api.PlanInput{{KeyVersion: api.KeyVersion{Key: api.Key{Node: mini, Kind: api.KindMemory}},
			Facts: map[string]json.RawMessage{"available_bytes": raw(`51539607552`)}}},
		Notes: []api.Cause{{Reason: api.ReasonNotMeasured, Message: "The GPU of mac-mini was never measured.", Remedy: "fulmen measure gpu mac-mini"}},
	}
}

// besidePlan is of two ranks on each of two Macs.
func besidePlan() *api.Plan {
	p := samplePlan()
	p.Ranks = nil
	for rank, node := range []api.NodeID{studio, studio, mini, mini} {
		p.Ranks = append(p.Ranks, api.PlanRank{Rank: rank, Node: node, GPU: api.GPUExclusive})
	}
	p.Links = []api.PlanLink{{From: 1, To: 2, Kind: api.LinkTB5, BitsPerS: gbits(50), Measured: true, TogetherBitsPerS: gbits(88)}, {From: 0, To: 3, Kind: api.LinkTB5}}
	return p
}

func noPlan() api.JobPlanResult {
	return api.JobPlanResult{
		Rejections: []api.PlanRejection{
			{Nodes: []api.NodeID{studio, mini}, Backend: api.BackendJACCL, Cause: api.Cause{Reason: api.ReasonLinkTooSlow,
				Message: "mac-studio <-> mac-mini: port 3 runs at 40 Gb/s, and RDMA needs more than 40."}},
			{Nodes: []api.NodeID{studio, mini}, Backend: api.BackendRing, Cause: api.Cause{Reason: api.ReasonNotEnoughMemory}},
		},
		Remedies: []api.Cause{{Reason: api.ReasonLinkTooSlow, Message: "Put the cable of mac-mini into a Thunderbolt 5 port.", Remedy: "Ports: fulmen topology"}},
		Line: &api.LinePlace{Position: 2, Before: []api.LineJob{{Job: "jh7a2bcde", Name: "bench", Priority: 5, Since: before(time.Hour), Nodes: []api.NodeID{studio}}},
			Preempts: []api.LineJob{{Job: sampleJob, Name: "chat.py", Priority: -10, Since: before(3 * time.Minute), Nodes: []api.NodeID{mini}}}},
	}
}

func preflight() api.JobPreflightResult {
	versions := func(mlx string) map[string]string {
		return map[string]string{"python": "3.13.1", "mlx": mlx, "mlx_lm": "0.29.0", "numpy": "2.4.0", "tokenizers": mlx[2:]}
	}
	return api.JobPreflightResult{
		Nodes: []api.Preflight{
			{Node: studio, Directory: "/Users/ada/work", Interpreter: "/Users/ada/work/.venv/bin/python", Versions: versions("0.32.4"), DiskFreeBytes: ptr(int64(912 << 30))},
			{Node: mini, Directory: "/Users/grace/work", Interpreter: "/Users/grace/work/.venv/bin/python", Versions: versions("0.31.0"),
				Problems: []api.Cause{{Reason: api.ReasonMacOSPrivacy, Message: "macOS does not let the program read /Users/grace/Desktop.", Remedy: "Allow it in System Settings, Privacy & Security, Files & Folders."}}},
		},
		Differences: []api.Cause{{Reason: api.ReasonMLXVersionsDiffer, Message: "mac-studio has mlx 0.32.4, mac-mini 0.31.0.", Remedy: "Install the same version, or pass --allow-mixed (allow_mixed in a file)."}},
	}
}

func jobList() []api.JobSummary {
	return []api.JobSummary{
		{Job: sampleJob, Name: "train.py", Principal: ada(), Mine: true, Phase: api.JobRunning, Nodes: []api.NodeID{studio, mini}, Backend: api.BackendRing,
			MemoryBytes: 48 << 30, Attempt: 1, Ranks: 2, SubmittedAt: before(3 * time.Minute)},
		{Job: "jh7a2bcde", Name: "bench", Principal: api.Principal{User: "bob", Node: mini}, Phase: api.JobHandshake, Nodes: []api.NodeID{studio, mini},
			Backend: api.BackendJACCL, Attempt: 1, Joined: 1, Ranks: 2, SubmittedAt: before(4 * time.Minute)},
		{Job: "jq8zzzzzz", Name: "evil\x1b[2J", Principal: ada(), Mine: true, Phase: api.JobPlacing, Reason: api.ReasonGPUBusy, LinePosition: 3, Attempt: 0, SubmittedAt: before(time.Hour)},
		{Job: "jp1p1p1p1", Name: "train.py", Principal: ada(), Mine: true, Phase: api.JobFailed, Reason: api.ReasonRankFailed, Message: "Rank 1 on mac-mini ended with exit code 42.",
			Nodes: []api.NodeID{studio, mini}, Backend: api.BackendRing, Attempt: 2, Ranks: 2, SubmittedAt: before(5 * time.Hour), ExitCode: ptr(42)},
		{Job: "jn0n0n0n0", Name: "hello.py", Principal: ada(), Mine: true, Phase: api.JobSucceeded, Nodes: []api.NodeID{mini}, Attempt: 1, Ranks: 1, SubmittedAt: before(6 * time.Hour), ExitCode: ptr(0)},
	}
}

// sampleSpec is what the samples were asked to be.
func sampleSpec(t *testing.T) json.RawMessage {
	spec := api.JobRequest{
		Name: "train.py", Labels: map[string]string{"team": "a"},
		Program: api.Program{Command: []string{"python", "train.py", "--name", "it's"}, Directory: "/Users/ada/work", Environment: "/Users/ada/work/.venv"},
		Model:   api.ModelSelect{Model: "mlx-community/Qwen3-32B-4bit", Revision: "main"},
		Publish: []api.Publish{{Port: 8080}, {Port: 8081, LAN: true}}, Priority: -3, Preemptible: true,
	}.Spec(sampleJob, ada(), before(time.Hour))
	raw, err := json.Marshal(spec)
	is.New(t).NoErr(err)
	return raw
}

func runningJob(t *testing.T) (api.Job, []api.Rank) {
	j := api.Job{
		Spec: sampleSpec(t), Principal: ada(), Home: studio, Epoch: 1, Phase: api.JobRunning, PhaseSince: before(90 * time.Second), Attempt: 1,
		Attempts: []api.Attempt{{Attempt: 1, Plan: samplePlan(), StartedAt: before(91 * time.Second)}},
		Phases:   []api.PhaseTime{{Phase: api.JobQueued, At: before(91500 * time.Millisecond)}, {Phase: api.JobRunning, Attempt: 1, At: before(90 * time.Second)}},
	}
	return j, []api.Rank{
		{Job: sampleJob, Attempt: 1, Rank: 0, Phase: api.RankRunning, PID: 4711, Ports: []int{8080}},
		{Job: sampleJob, Attempt: 1, Rank: 1, Phase: api.RankRunning, PID: 512, Output: &api.OutputSize{OutBytes: 5 << 30, DroppedBytes: 4 << 30}},
	}
}

func failedJob(t *testing.T) (api.Job, []api.Rank) {
	j := api.Job{
		Spec: sampleSpec(t), Principal: ada(), Home: mini, Epoch: 2, Phase: api.JobFailed, PhaseSince: before(time.Minute), Attempt: 2,
		Reason: api.ReasonRankFailed, ExitCode: ptr(42), EndedAt: before(time.Minute),
		Attempts: []api.Attempt{
			{Attempt: 1, Reason: api.ReasonNodeLost, Message: "mac-mini was lost.", StartedAt: before(10 * time.Minute), EndedAt: before(8 * time.Minute), Uncounted: true},
			{Attempt: 2, Plan: samplePlan(), Reason: api.ReasonRankFailed, FirstFailed: ptr(1), ExitCode: ptr(42), StartedAt: before(7 * time.Minute), EndedAt: before(time.Minute)},
		},
		Phases: []api.PhaseTime{
			{Phase: api.JobQueued, At: before(10*time.Minute + 1200*time.Millisecond)}, {Phase: api.JobPlacing, At: before(10*time.Minute + 1190*time.Millisecond)},
			{Phase: api.JobRunning, Attempt: 1, At: before(10 * time.Minute)}, {Phase: api.JobBackoff, Attempt: 1, At: before(8 * time.Minute)},
			{Phase: api.JobRunning, Attempt: 2, At: before(7 * time.Minute)}, {Phase: api.JobFailed, Attempt: 2, At: before(time.Minute)},
		},
	}
	return j, []api.Rank{
		{Job: sampleJob, Attempt: 2, Rank: 0, Phase: api.RankExited, Reason: api.ReasonPeerRankFailed, PID: 4711, Exit: &api.Exit{Signal: 15},
			Usage: &api.Usage{UserS: 12.5, SystemS: 1.5, MaxResidentBytes: 3 << 30}, Output: &api.OutputSize{OutBytes: 2048}},
		{Job: sampleJob, Attempt: 2, Rank: 1, Phase: api.RankExited, PID: 512, Exit: &api.Exit{Code: ptr(42)}, Output: &api.OutputSize{ErrBytes: 300}},
	}
}

func TestProgress(t *testing.T) {
	plan := samplePlan()
	joined := []api.Attempt{{Attempt: 1, Plan: plan, Joined: []int{0}}}
	for _, c := range []struct {
		job   api.Job
		ranks []api.Rank
		want  string
	}{
		{api.Job{}, nil, ""},
		{api.Job{Phase: api.JobPlacing}, nil, "looking for nodes"},
		{api.Job{Phase: api.JobPlacing, WaitingFor: "the GPU of mac-mini", Reason: api.ReasonGPUBusy}, nil, "waiting for the GPU of mac-mini: Another job holds the GPU"},
		{api.Job{Phase: api.JobPlacing, Attempt: 1, Attempts: []api.Attempt{{Attempt: 1, StartedAt: before(time.Second), EndedAt: before(0), Reason: api.ReasonLinkGone, Message: "The cable was pulled."}}},
			nil, "attempt 1 failed: The cable was pulled; looking for nodes"},
		{api.Job{Phase: api.JobRunning, Reason: api.ReasonNotReady, Message: "Rank 0 has not been ready yet.", Attempt: 1, Attempts: joined}, nil,
			"running on mac-studio, mac-mini over ring, unencrypted; not ready: Rank 0 has not been ready yet."},
		{api.Job{Phase: api.JobRunning, Reason: api.ReasonStalled, Message: "The job is stalled: rank 1 on mac-mini does nothing.", Attempt: 1, Attempts: joined}, nil,
			"running on mac-studio, mac-mini over ring, unencrypted; The job is stalled: rank 1 on mac-mini does nothing"},
		{api.Job{Phase: api.JobStarting, Attempt: 1, Attempts: joined}, []api.Rank{{Rank: 0, Phase: api.RankPreparing}, {Rank: 1, Phase: api.RankPreparing, Fetching: &api.RankFetch{DoneBytes: 43, TotalBytes: 100, LeftS: new(120.0)}}},
			"starting on mac-studio, mac-mini; copying the model: mac-mini 43 %, 2 min left"},
		{api.Job{Phase: api.JobStarting, Attempt: 1, Attempts: joined}, []api.Rank{{Rank: 1, Phase: api.RankPreparing}}, "starting on mac-studio, mac-mini; mac-mini still prepares"},
		{api.Job{Phase: api.JobStarting, Attempt: 1, Attempts: joined, Message: "mac-mini is being prepared.", WaitingFor: "rank 1 on mac-mini to be prepared"},
			[]api.Rank{{Phase: api.RankPreparing, PreparedAt: before(0)}, {Rank: 1, Phase: api.RankPreparing}}, "starting on mac-studio, mac-mini; mac-mini is being prepared"},
		{api.Job{Phase: api.JobHandshake, Attempt: 1, Attempts: joined}, []api.Rank{{Handshake: &api.Handshake{Missing: []int{1}}}}, "handshake: 1 of 2 connected; waiting for rank 1 on mac-mini"},
		{api.Job{Phase: api.JobRunning, Attempt: 1, Attempts: joined}, nil, "running on mac-studio, mac-mini over ring, unencrypted"},
		{api.Job{Phase: api.JobRunning, Attempt: 1, Attempts: []api.Attempt{{Attempt: 1, Plan: besidePlan()}}}, nil, "running on mac-studio, mac-mini over ring, unencrypted"},
		{api.Job{Phase: api.JobBackoff, Attempt: 1, Message: "mac-mini was lost.", NextAttemptAt: before(-3 * time.Second)}, nil, "attempt 1 failed: mac-mini was lost; the next one begins in 3 s"},
		{api.Job{Phase: api.JobHomeLost, Home: mini, WaitingFor: "mac-mini"}, nil, "its home, mac-mini, is lost; waiting for mac-mini"},
		{api.Job{Phase: api.JobEnding, Reason: api.ReasonRankFailed}, nil, "ending: A rank ended with an error"},
	} {
		t.Run(c.want, func(t *testing.T) {
			is := is.New(t)
			is.Equal(View{Now: now()}.Progress(c.job, c.ranks, called()), c.want)
		})
	}
}

func TestTries(t *testing.T) {
	for _, c := range []struct {
		job  api.Job
		spec api.JobSpec
		want string
	}{
		{api.Job{CountedAttempts: 1}, api.JobSpec{}, "1 of 3 that count"},
		{api.Job{}, api.JobSpec{MaxAttempts: 3}, ""},
		{api.Job{CountedAttempts: 1}, api.JobSpec{MaxAttempts: 3}, "1 of 3 that count"},
		{api.Job{CountedAttempts: 2, Retried: 3}, api.JobSpec{MaxAttempts: 3, Retries: 2}, "2 of 3 that count, 2 of 2 after all had joined"},
		{api.Job{Retried: 1}, api.JobSpec{MaxAttempts: 3}, ""}, // there are none
	} {
		is := is.New(t)
		is.Equal(tries(c.job, c.spec), c.want)
	}
}

func TestOutcome(t *testing.T) {
	is := is.New(t)
	j, ranks := failedJob(t)
	e := Outcome(j, ranks, called())
	is.Equal(e.Message, "Rank 1 on mac-mini ended with exit code 42.")
	is.Equal(e.Data.Causes[0].Message, "Attempt 1: mac-mini was lost.")
	is.Equal(e.Data.Remedy, "See: fulmen job logs j4k2m9xq7 --rank 1")
	ranks[1].Exit = &api.Exit{Signal: 9}
	is.Equal(Outcome(j, ranks, called()).Message, "Rank 1 on mac-mini was ended by SIGKILL.")
	j.Reason, j.Message = api.ReasonSilentTooLong, "Rank 1 printed nothing for 60 s."
	is.Equal(Outcome(j, ranks, called()).Message, "Rank 1 printed nothing for 60 s.")
}

// The last line offers what shows more of the cause: what a rank printed tells nothing
// of a cable that was pulled.
func TestTheNextStepFitsTheCause(t *testing.T) {
	for reason, want := range map[api.Reason]string{
		api.ReasonRankFailed:     "See: fulmen job logs j4k2m9xq7 --rank 1",
		api.ReasonNeverJoined:    "Its output is in the logs. Every rank has to call mx.distributed.init(); --allow-solo (allow_solo in a file) permits one that does not. See: fulmen job logs j4k2m9xq7 --rank 1",
		api.ReasonLinkGone:       "Plug it in again. See: fulmen topology",
		api.ReasonNetworkLost:    "Check its network cable or Wi-Fi, then the router or switch. See: fulmen peers",
		api.ReasonRDMAPortDown:   "Replug the cable. See: fulmen rdma check",
		api.ReasonNodeLost:       "See: fulmen nodes",
		api.ReasonJACCLMissing:   "Run jobs with --backend ring (placement.backend in a file), or install an MLX with JACCL there; its packages for Linux have none. See: fulmen env",
		api.ReasonGPUBusy:        "See: fulmen jobs",
		api.ReasonProgramMissing: "Copy it there, or pass --sync (program.sync in a file). See: fulmen job logs j4k2m9xq7 --rank 1",
	} {
		is := is.New(t)
		j, ranks := failedJob(t)
		j.Reason, j.Message = reason, "That."
		is.Equal(Outcome(j, ranks, called()).Data.Remedy, want)
	}
}

// Of attempts that failed alike one line is screenTexts, and of one that only led to another
// plan none: the plan's notes tell.
func TestEarlierAttemptsInTheOutcome(t *testing.T) {
	is := is.New(t)
	j, ranks := failedJob(t)
	reported := func(all ...api.Attempt) (lines []string) {
		for i := range all {
			all[i].Attempt = i + 1
		}
		j.Attempts, j.Attempt = all, len(all)
		for _, c := range Outcome(j, ranks, called()).Data.Causes {
			lines = append(lines, c.Message)
		}
		return lines
	}
	gone, lost := api.Attempt{Reason: api.ReasonLinkGone, Message: "Pulled."}, api.Attempt{Reason: api.ReasonNodeLost, Message: "Lost."}
	is.Equal(reported(gone, gone, lost), []string{"Attempts 1 to 2: Pulled."})
	is.Equal(reported(lost, gone, gone), []string{"Attempt 1: Lost.", "Attempts 2 to 3 failed the same way."})
	is.Equal(reported(api.Attempt{Reason: api.ReasonJACCLMissing, Message: "None.", Replanned: true}, lost), nil)
	is.Equal(reported(lost), nil)
}

// The choice of a backend is for who asks for a plan; that there is no MLX is for all.
func TestNotes(t *testing.T) {
	is := is.New(t)
	j, _ := failedJob(t)
	plan := *Current(j).Plan
	plan.Notes = []api.Cause{
		{Reason: api.ReasonBackendNotUsed, Message: "jaccl is not used: the program's Python finds no MLX on mac-mini."},
		{Reason: api.ReasonProgramMLXMissing, Message: "The program's Python finds no MLX on mac-mini.", Remedy: "Install it."},
	}
	Current(j).Plan = &plan
	is.Equal(Notes(j), []string{"The program's Python finds no MLX on mac-mini. Install it."})
}

// Attempts that failed alike are one line with their number.
func TestAttemptsThatFailedAlike(t *testing.T) {
	is := is.New(t)
	gone := api.Attempt{Reason: api.ReasonLinkGone, Message: "The cable a:1 - b:1 was pulled.", Uncounted: true}
	j := api.Job{Phase: api.JobBackoff}
	for n := 1; n <= 5; n++ {
		a := gone
		if a.Attempt = n; n == 4 {
			a.Message = "The cable a:2 - b:2 was pulled."
		}
		j.Attempts = append(j.Attempts, a)
	}
	var out Page
	View{}.attempts(&out, j)
	is.Equal(strings.Count(out.String(), "\n"), 5) // an empty one, the head, 1-3, 4 and 5
	is.True(strings.Contains(out.String(), "1-3 ") && strings.Contains(out.String(), "a:1 - b:1 was pulled (not counted), 3 times"))
	j.Attempts[4].Replanned = true // what differs is told apart
	out = Page{}
	View{}.attempts(&out, j)
	is.True(strings.Contains(out.String(), "a:1 - b:1 was pulled (nothing was started; planned again at once)\n"))
}
