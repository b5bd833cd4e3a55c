package command

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// serving has a service of a daemon.
func (r *rig) serving(job api.Job) api.Document {
	r.t.Helper()
	job.Spec, _ = json.Marshal(api.JobRequest{
		Name: "m", Labels: map[string]string{engineLabel: "mlx_lm.server"}, Model: api.ModelSelect{Model: "org/m"}, Publish: []api.Publish{{Port: 9001}},
	}.Spec(jobA, api.Principal{User: "ada", Node: studio}, before(0)))
	job.Principal, job.Home = api.Principal{User: "ada", Node: studio}, studio
	value, err := json.Marshal(job)
	is.New(r.t).NoErr(err)
	document := api.Document{Node: studio, Kind: api.KindJob, Name: string(jobA), Value: value}
	r.daemon.Always("job.list", api.JobListResult{Jobs: []api.JobSummary{summarized("m", true), summarized("m", true), summarized("other", false)}})
	r.daemon.Always("job.get", api.JobGetResult{Job: document})
	return document
}

// summarized is a job in a list.
func summarized(name string, isDeclared bool) api.JobSummary {
	return api.JobSummary{Job: jobA, Name: name, Declared: isDeclared, Principal: api.Principal{User: "ada", Node: studio}, Phase: api.JobRunning}
}

// ready is the job of a service that runs, and has been ready.
func ready(reason api.Reason) api.Job {
	return api.Job{Phase: api.JobRunning, Reason: reason, Message: "Rank 0 is not ready.", Attempt: 1, Attempts: []api.Attempt{{
		Attempt: 1, ReadyAt: before(0), Plan: &api.Plan{Ranks: []api.PlanRank{{Node: studio}, {Rank: 1, Node: mini}}, Backend: api.BackendRing},
	}}}
}

// A service is declared with what the engine's file and the flags say, and its address is
// printed once it is ready, whatever the job said before.
func TestServe(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	r.app.Environment.Home = "/home/ada"
	r.daemon.Always("job.apply", api.JobApplyResult{Outcome: api.ApplyCreated, Job: jobA})
	waiting := r.serving(ready(api.ReasonNotReady))
	now := r.serving(ready(""))
	r.daemon.SetStream("job.watch", func(json.RawMessage) (any, func(func(any) error), error) {
		return api.JobWatchResult{Sub: "s1", JobGetResult: api.JobGetResult{Job: waiting}}, func(notify func(any) error) {
			_ = notify(api.JobChanged{Sub: "s1", N: 1, Put: []api.Document{now}})
		}, nil
	})
	is.Equal(r.run("serve", "org/m", "--sharding", "pipeline", "--min-nodes", "2", "--nodes", "mac-mini", "--port", "9001"), api.ExitOK)
	is.True(strings.HasPrefix(r.out.String(), "m is ready on mac-studio, mac-mini: http://127.0.0.1:9001\n\n  curl http://127.0.0.1:9001/v1/chat/completions "))
	var p api.JobApplyParams
	is.NoErr(json.Unmarshal([]byte(r.called("job.apply")[0]), &p))
	q := p.Request
	is.Equal(q.Program.Command, []string{"python", "-m", "mlx_lm", "server", "--model", "{model}", "--host", "127.0.0.1", "--port", "9001", "--pipeline"})
	is.Equal(q.Model, api.ModelSelect{Model: "org/m"})
	is.True(q.Kept && q.FetchModel && q.Detached && !p.Replace)
	is.Equal(q.Placement.Nodes, []api.NodeID{mini})
	is.Equal(q.Placement.MinNodes, 2)
	is.Equal(q.Labels, map[string]string{engineLabel: "mlx_lm.server"})
	is.Equal(q.Probes.Readiness.Port, 9001)
	is.Equal(q.Program.Directory, "/home/ada")

	// Where it is there already it keeps its port; else it gets one that is free.
	is.Equal(r.run("serve", "org/m", "-d", "--replace"), api.ExitOK)
	is.True(strings.Contains(r.called("job.apply")[1], `"publish":[{"port":9001}]`))
	is.True(strings.Contains(r.called("job.apply")[1], `"replace":true`))
	taken, err := net.Listen("tcp", "127.0.0.1:8080") // or somebody else has it
	if err == nil {
		defer taken.Close()
	}
	is.Equal(r.run("serve", "org/m", "-d", "--name", "second"), api.ExitOK)
	p = api.JobApplyParams{}
	is.NoErr(json.Unmarshal([]byte(r.called("job.apply")[2]), &p))
	is.True(p.Request.Publish[0].Port > 8080)
	is.Equal(p.Request.Name, "second")
}

// What keeps a service from being declared, or ready.
func TestServeFails(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	r.app.Environment.Home = "/home/ada"
	failed := ready(api.ReasonRankFailed)
	failed.Phase, failed.Message = api.JobFailed, "Rank 0 ended with exit code 3."
	document := r.serving(failed)
	r.daemon.Always("job.apply", api.JobApplyResult{Outcome: api.ApplyCreated, Job: jobA})
	r.daemon.SetStream("job.watch", func(json.RawMessage) (any, func(func(any) error), error) {
		return api.JobWatchResult{Sub: "s1", JobGetResult: api.JobGetResult{Job: document}}, func(notify func(any) error) {
			_ = notify(api.JobChanged{Sub: "s1", N: 1, Terminal: true})
		}, nil
	})
	is.Equal(r.run("serve", "org/m"), api.ExitFailed)
	is.True(strings.Contains(r.err.String(), "ended with exit code 3"))
	is.Equal(r.run("serve", "org/m", "--engine", "none"), api.ExitFailed)
	is.True(strings.Contains(r.err.String(), "There is no engine none."))
	is.Equal(r.run("serve", "org/m", "--sharding", "expert"), api.ExitUsage)
	folder := filepath.Join(r.app.Environment.Places().Config, enginesFolder)
	is.NoErr(os.MkdirAll(folder, 0o700))
	is.NoErr(os.WriteFile(filepath.Join(folder, "own.toml"), []byte("[program]\ncomand = []\n"), 0o600))
	is.Equal(r.run("serve", "org/m", "--engine", "own"), api.ExitUsage)
	is.True(strings.Contains(r.err.String(), "own.toml:2: there is no field \"comand\" in program"))
	r.daemon.Set("job.apply", func(json.RawMessage) (any, error) {
		return nil, api.Errorf(api.ReasonJobRunning, "", "m runs as j1.")
	})
	is.Equal(r.run("serve", "org/m"), api.ExitFailed)
	is.True(strings.Contains(r.err.String(), "the same with --replace"))
}

// They are listed, each name once, and ended by name.
func TestServices(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	r.serving(ready(""))
	is.Equal(r.run("serve"), api.ExitOK)
	is.Equal(r.out.String(), "NAME  MODEL  ENGINE         ATTEMPTS  ADDRESS                STATE\nm     org/m  mlx_lm.server  1         http://127.0.0.1:9001  ready on mac-studio, mac-mini\n")
	r.daemon.Always("job.delete", api.Empty{})
	r.daemon.Always("job.list", api.JobListResult{Jobs: []api.JobSummary{{Job: jobA, Name: "m", Declared: true, Phase: api.JobFailed, Principal: api.Principal{User: "ada", Node: studio}}}})
	is.Equal(r.run("serve", "stop", "m"), api.ExitOK)
	is.Equal(len(r.called("job.delete")), 1)
	is.Equal(r.run("serve", "stop", "x"), api.ExitFailed)
	is.True(strings.Contains(r.err.String(), "You serve nothing named x on this Mac."))
}
