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

// applied is what a test's file says.
const applied = "name = \"train\"\n[program]\ncommand = [\"x\"]\nvariables = [\"TOKEN\"]\n[placement]\nnodes = [\"mac-mini\"]\n"

// applies gives the rig a file and a daemon that answers with an outcome.
func (r *rig) applies(content string, result api.JobApplyResult) (path string) {
	r.t.Helper()
	r.app.Folder, r.app.Environment.Home = "/home/ada/work", "/home/ada"
	r.daemon.Always("job.apply", result)
	getenv := r.app.Environment.Getenv
	r.app.Environment.Getenv = func(name string) string {
		if name == "TOKEN" {
			return "secret"
		}
		return getenv(name)
	}
	path = filepath.Join(r.t.TempDir(), "job.toml")
	is.New(r.t).NoErr(os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestApply(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	path := r.applies(applied, api.JobApplyResult{Outcome: api.ApplyCreated, Job: jobA})
	is.Equal(r.run("apply", path), 0)
	is.Equal(r.out.String(), "train created: j4k2m9xq7\n")
	var p api.JobApplyParams
	is.NoErr(json.Unmarshal([]byte(r.called("job.apply")[0]), &p))
	is.Equal(p.Request.Placement.Nodes, []api.NodeID{mini})
	is.Equal(p.Request.Placement.Ranks, 1)
	is.Equal(p.Request.Program.Directory, filepath.Dir(path))
	is.Equal(p.Request.Program.Stdin, api.StdinNone)
	is.True(p.Request.Detached && !p.Replace && !p.DryRun)
	is.Equal(p.Environment, map[string]string{"TOKEN": "secret"})
	is.Equal(len(r.called("job.watch")), 0)

	is.NoErr(os.WriteFile(path, []byte(applied+"[model]\nmodel = \"org/m\"\n"), 0o600))
	is.Equal(r.run("apply", path), 0)
	p = api.JobApplyParams{}
	is.NoErr(json.Unmarshal([]byte(r.called("job.apply")[1]), &p))
	is.Equal(p.Request.Model.Model, "org/m")
	is.Equal(p.Request.Placement.Ranks, 0) // as many as the model needs

	r.daemon.Always("job.apply", api.JobApplyResult{Outcome: api.ApplyReplaced, Before: jobA, Changes: []api.FieldChange{
		{Field: "placement.ranks", From: "1", To: "2"}, {Field: "retries", To: "3"},
	}})
	is.Equal(r.run("apply", "-f", path, "--dry-run"), 0)
	is.True(strings.HasSuffix(r.out.String(), "train would be replaced in the place of j4k2m9xq7\n  placement.ranks  1  ->  2\n  retries          -  ->  3\n"))
	is.True(strings.Contains(r.called("job.apply")[2], `"dry_run":true`))
	r.daemon.Always("job.apply", api.JobApplyResult{Outcome: api.ApplyUnchanged, Job: jobA})
	is.Equal(r.run("apply", path, "--replace"), 0)
	is.True(strings.HasSuffix(r.out.String(), "train unchanged: j4k2m9xq7\n"))
	is.True(strings.Contains(r.called("job.apply")[3], `"replace":true`))
	r.daemon.Set("job.apply", func(json.RawMessage) (any, error) {
		return nil, api.Errorf(api.ReasonJobRunning, "", "train runs as j1.")
	})
	is.Equal(r.run("apply", path), 1)
	is.True(strings.HasSuffix(r.err.String(), "fulmen: train runs as j1.\n  See the difference: fulmen apply --dry-run "+path+". End the program for it: fulmen apply --replace "+path+"\n"))
}

func TestApplyOfAFileThatIsNoJob(t *testing.T) {
	for reports, content := range map[string]string{
		"job.toml:2: there is no field \"programs\"":                                            "\nprograms = 1\n",
		"has no name, by which it is known when it is applied again":                            "[program]\ncommand = [\"x\"]\n",
		"program.command is missing":                                                            "name = \"x\"\n",
		"request_id: leave it out":                                                              "name = \"x\"\nrequest_id = \"y\"\n",
		"program.stdin: a job that is applied is given no input; leave it out":                  "name = \"x\"\n[program]\ncommand = [\"x\"]\nstdin = \"all\"\n",
		"program.terminal: a job that is applied has no terminal; leave it out":                 "name = \"x\"\n[program]\ncommand = [\"x\"]\nterminal = true\n",
		"OTHER is not set here":                                                                 "name = \"x\"\n[program]\ncommand = [\"x\"]\nvariables = [\"OTHER\"]\n",
		"there is no field \"rank\" in placement; the nearest is ranks; the fields are backend": "name = \"x\"\n[placement]\nrank = 2\n",
	} {
		t.Run(reports, func(t *testing.T) {
			is := is.New(t)
			r := newRig(t, "")
			path := r.applies(content, api.JobApplyResult{})
			is.Equal(r.run("apply", path), 2)
			is.True(strings.Contains(r.err.String(), reports))
			is.True(!strings.Contains(r.err.String(), "--")) // of no flag, which a file has none of
			is.Equal(len(r.called("job.apply")), 0)
		})
	}
	is := is.New(t)
	r := newRig(t, "")
	path := r.applies(applied, api.JobApplyResult{})
	is.Equal(r.run("apply", path+".no"), 1)
	is.Equal(r.run("apply"), 2)
	is.Equal(r.run("apply", path, "-f", path), 2)
	is.Equal(r.run("apply", path, "--dry-run", "--attach"), 2)
	is.True(strings.Contains(r.err.String(), "[attach dry-run] were all set"))
}

func TestApplyAndFollow(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	f := r.fake()
	path := r.applies(applied, api.JobApplyResult{Outcome: api.ApplyCreated, Job: jobA})
	f.job.Spec, _ = json.Marshal(api.JobRequest{Detached: true, Placement: api.Placement{Ranks: 2}}.Spec(jobA, f.job.Principal, before(0)))
	f.runs()
	_, done := r.begin("apply", "--attach", path)
	r.err.await(t, "running on")
	f.ends(api.JobFailed, 42, failed)
	is.Equal(<-done, 42)
}

func TestDeleteOfWhatWasApplied(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	f := r.fake()
	path := r.applies(applied, api.JobApplyResult{})
	r.daemon.Always("job.list", api.JobListResult{})
	is.Equal(r.run("delete", "-f", path), 1)
	is.True(strings.HasSuffix(r.err.String(), "fulmen: You have applied no job named \"train\" on this Mac.\n  See: fulmen jobs --all --mine\n"))
	listed := api.JobListResult{Jobs: []api.JobSummary{
		{Job: jobA, Name: "train", Declared: true, Phase: api.JobRunning}, {Job: "jh7a2bcde", Name: "train", Declared: true, Phase: api.JobFailed},
		{Job: "jn0n0n0n0", Name: "train", Phase: api.JobRunning}, {Job: "jp1p1p1p1", Name: "other", Declared: true, Phase: api.JobRunning},
	}}
	for i := range listed.Jobs {
		listed.Jobs[i].Principal = api.Principal{User: "ada", Node: studio}
	}
	r.daemon.Always("job.list", listed)
	r.daemon.Always("job.delete", api.Empty{})
	f.runs()
	_, done := r.begin("delete", "-f", path)
	r.daemon.Await("job.watch")
	f.ends(api.JobStopped, 143, nil)
	is.Equal(<-done, 0)
	is.Equal(r.out.String(), "train deleted: j4k2m9xq7, jh7a2bcde\n")
	is.Equal(r.called("job.list")[1], `{"ended":true,"mine":true}`)
	is.Equal(r.called("job.stop"), []string{`{"job":"j4k2m9xq7"}`})
	is.Equal(r.called("job.delete"), []string{`{"job":"j4k2m9xq7"}`, `{"job":"jh7a2bcde"}`})
}
