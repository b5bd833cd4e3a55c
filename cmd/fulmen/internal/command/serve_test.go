package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// document is that of a service's job.
func (r *rig) document(job api.Job) api.Document {
	r.t.Helper()
	by := api.Principal{User: "ada", Node: studio}
	job.Spec, _ = json.Marshal(api.JobRequest{Name: "m"}.Spec(jobA, by, before(0)))
	job.Principal, job.Home = by, studio
	value, err := json.Marshal(job)
	is.New(r.t).NoErr(err)
	return api.Document{Node: studio, Kind: api.KindJob, Name: string(jobA), Value: value}
}

// ready is the job of a service that runs, and has been ready.
func ready(reason api.Reason) api.Job {
	return api.Job{Phase: api.JobRunning, Reason: reason, Message: "Rank 0 is not ready.", Attempt: 1, Attempts: []api.Attempt{{Attempt: 1, ReadyAt: before(0)}}}
}

// served is a service in a list.
var served = api.Instance{
	Name: "m", Model: api.ModelSelect{Model: "org/m"}, Engine: api.DefaultEngine, Sharding: api.ShardingTensor, InstanceJob: api.InstanceJob{
		URL: "http://127.0.0.1:9001", Port: 9001, Job: jobA, Phase: api.JobRunning, ReadyAt: before(0), Attempt: 1, Nodes: []api.NodeID{studio, mini},
	},
}

// A service is declared with what the flags say, and its address is printed once it is ready,
// whatever the job said before.
func TestServe(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	r.app.Folder, r.app.Environment.Home = "/home/ada/work", "/home/ada"
	r.daemon.Always("instance.apply", api.InstanceApplyResult{JobApplyResult: api.JobApplyResult{Outcome: api.ApplyCreated, Job: jobA}, Name: "m", URL: served.URL})
	r.daemon.Always("instance.list", api.InstanceListResult{Endpoint: "http://127.0.0.1:7733/v1", Instances: []api.Instance{served}})
	waiting, now := r.document(ready(api.ReasonNotReady)), r.document(ready(""))
	r.daemon.SetStream("job.watch", func(json.RawMessage) (any, func(func(any) error), error) {
		return api.JobWatchResult{Sub: "s1", JobGetResult: api.JobGetResult{Job: waiting}}, func(notify func(any) error) {
			_ = notify(api.JobChanged{Sub: "s1", N: 1, Put: []api.Document{now}})
		}, nil
	})
	is.Equal(r.run("serve", "org/m", "--sharding", "pipeline", "--min-nodes", "2", "--replicas", "3", "--nodes", "mac-mini", "--port", "9001", "--env", "A=1", "--venv", "/v"), api.ExitOK)
	is.True(strings.HasPrefix(r.out.String(), "m is ready on mac-studio, mac-mini: http://127.0.0.1:9001\n\n  curl http://127.0.0.1:7733/v1/chat/completions "))
	is.True(strings.Contains(r.out.String(), `-d '{"model": "org/m", `))
	var p api.InstanceApplyParams
	is.NoErr(json.Unmarshal([]byte(r.called("instance.apply")[0]), &p))
	is.Equal(p, api.InstanceApplyParams{Environment: map[string]string{"A": "1"}, Instance: api.InstanceSpec{
		Model: api.ModelSelect{Model: "org/m"}, Engine: api.DefaultEngine, Sharding: api.ShardingPipeline, Backend: api.BackendAuto, MinNodes: 2, Replicas: 3, Nodes: []api.NodeRef{"mac-mini"},
		Port: 9001, Environment: "/v", Home: "/home/ada", Variables: []string{"A"},
	}})
	file := filepath.Join(t.TempDir(), "own.toml")
	is.NoErr(os.WriteFile(file, []byte("[program]\n"), 0o600))
	is.Equal(r.run("serve", "org/m", "-d", "--replace", "--engine", file), api.ExitOK)
	is.True(strings.HasSuffix(r.out.String(), "m created: j4k2m9xq7\n"))
	is.True(strings.Contains(r.called("instance.apply")[1], `"engine":"own","engine_file":"[program]\n"`))
	is.True(strings.Contains(r.called("instance.apply")[1], `"replace":true`))
}

// Who waits for a service goes on waiting when the daemon was started again, and need not be
// there for its first change.
func TestServeOverARestart(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	f := r.fake()
	now := func(reason api.Reason) {
		f.mu.Lock()
		defer f.mu.Unlock()
		job := ready(reason)
		f.job.Phase, f.job.Reason, f.job.Message, f.job.Attempt, f.job.Attempts = job.Phase, job.Reason, job.Message, job.Attempt, job.Attempts
	}
	now(api.ReasonNotReady)
	r.app.Terminal = true
	r.daemon.Always("instance.apply", api.InstanceApplyResult{JobApplyResult: api.JobApplyResult{Outcome: api.ApplyUnchanged, Job: jobA}, Name: "m", URL: served.URL})
	r.daemon.Always("instance.list", api.InstanceListResult{Instances: []api.Instance{served}})
	_, done := r.begin("serve", "org/m")
	r.err.await(t, "not ready")
	r.daemon.Drop()
	r.err.await(t, "interrupted: ")
	now("") // and no change follows
	r.daemon.Drop()
	is.Equal(<-done, api.ExitOK)
	is.True(strings.HasPrefix(r.out.String(), "m is ready on mac-studio, mac-mini: http://127.0.0.1:9001\n"))
}

// What keeps a service from being declared, or ready.
func TestServeFails(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	r.app.Folder, r.app.Environment.Home = "/home/ada/work", "/home/ada"
	failed := ready(api.ReasonRankFailed)
	failed.Phase, failed.Message = api.JobFailed, "Rank 0 ended with exit code 3."
	document := r.document(failed)
	r.daemon.Always("instance.apply", api.InstanceApplyResult{JobApplyResult: api.JobApplyResult{Outcome: api.ApplyCreated, Job: jobA}, Name: "m"})
	r.daemon.SetStream("job.watch", func(json.RawMessage) (any, func(func(any) error), error) {
		return api.JobWatchResult{Sub: "s1", JobGetResult: api.JobGetResult{Job: document}}, func(notify func(any) error) {
			_ = notify(api.JobChanged{Sub: "s1", N: 1, Terminal: true})
		}, nil
	})
	is.Equal(r.run("serve", "org/m"), api.ExitFailed)
	is.True(strings.Contains(r.err.String(), "ended with exit code 3"))
	is.Equal(r.run("serve", "org/m", "--sharding", "expert"), api.ExitUsage)
	is.Equal(r.run("serve", "org/m", "--engine", "/none/of.toml"), api.ExitFailed)
	is.True(strings.Contains(r.err.String(), "cannot read /none/of.toml"))
	r.daemon.Set("instance.apply", func(json.RawMessage) (any, error) {
		return nil, api.Errorf(api.ReasonJobRunning, "", "m runs as j1.")
	})
	is.Equal(r.run("serve", "org/m"), api.ExitFailed)
	is.True(strings.Contains(r.err.String(), "the same with --replace"))
}

// They are listed, and ended by name.
func TestServices(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	loading, waiting := served, served
	loading.Name, loading.ReadyAt, loading.Message, loading.Attempt = "b", api.Time{}, "Rank 0 has not been ready yet.", 2
	loading.LastEnd = &api.Cause{Reason: api.ReasonRankFailed, Message: "Rank 1 on mac-mini ended with exit code 1."}
	several := served
	several.TokensPerS, waiting.TokensMessage = new(21.26), "The engine's file names no metrics."
	several.Name, several.Replicas = "d", []api.InstanceReplica{
		{Replica: 1, InstanceJob: api.InstanceJob{URL: served.URL, Job: jobA, Phase: api.JobRunning, ReadyAt: before(0), Attempt: 1, Nodes: []api.NodeID{studio}}},
		{Replica: 2, InstanceJob: api.InstanceJob{URL: "http://127.0.0.1:9002", Job: jobA, Phase: api.JobPlacing, Attempt: 3, Message: "mac-mini has no org/m"}},
	}
	waiting.Name, waiting.Phase, waiting.ReadyAt, waiting.Nodes, waiting.Message = "c", api.JobPlacing, api.Time{}, nil, "mac-mini has no org/m"
	r.daemon.Always("instance.list", api.InstanceListResult{Endpoint: "http://127.0.0.1:7733/v1", Instances: []api.Instance{served, loading, waiting, several}})
	is.Equal(r.run("serve"), api.ExitOK)
	is.Equal(r.out.String(), `NAME  MODEL  ENGINE         ADDRESS                ATTEMPT  TOKENS/S  STATE
m     org/m  mlx_lm.server  http://127.0.0.1:9001  1        –         ready on mac-studio, mac-mini
b     org/m  mlx_lm.server  http://127.0.0.1:9001  2        –         not ready: Rank 0 has not been ready yet.
  the attempt before ended: Rank 1 on mac-mini ended with exit code 1.
c     org/m  mlx_lm.server  http://127.0.0.1:9001  1        unknown   placing: mac-mini has no org/m
  tokens a second are unknown: The engine's file names no metrics.
d     org/m  mlx_lm.server  http://127.0.0.1:9001  1        21.3      1 of 2 ready
  1: http://127.0.0.1:9001, attempt 1: ready on mac-studio
  2: http://127.0.0.1:9002, attempt 3: placing: mac-mini has no org/m
All of them answer at http://127.0.0.1:7733/v1, by the name of their model.
`)
	r.daemon.Always("instance.delete", api.Empty{})
	is.Equal(r.run("serve", "stop", "m"), api.ExitOK)
	is.Equal(r.called("instance.delete"), []string{`{"name":"m"}`})
	r.daemon.Always("instance.list", api.InstanceListResult{Endpoint: "http://127.0.0.1:7733/v1", Instances: []api.Instance{}})
	is.Equal(r.run("serve"), api.ExitOK)
	is.True(strings.HasSuffix(r.out.String(), "You serve no model. Begin with: fulmen serve MODEL\n"))
}

// A key of the endpoint has a name, and is no token of the API.
func TestKeyOfTheEndpoint(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	asked := ""
	r.daemon.Set("daemon.create_token", func(params json.RawMessage) (any, error) {
		asked = string(params)
		return api.DaemonCreateTokenResult{Token: "fulmen_x"}, nil
	})
	is.Equal(r.run("token", "create", "phone", "--endpoint"), api.ExitOK)
	is.Equal(r.out.String(), "fulmen_x\n")
	is.Equal(asked, `{"name":"phone","endpoint":true}`)
	is.True(strings.Contains(r.err.String(), "can ask the models that you can."))
	is.Equal(r.run("token", "create", "--endpoint"), api.ExitUsage)
}
