package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// testReplicas serves a model several times: on Macs of their own, more or fewer without harm to
// the others, replaced one after the other, and deleted together.
func (j *jobs) testReplicas(t *testing.T) {
	j.needMLXLM(t)
	is := is.New(t)
	at := j.Nodes[0]
	model := j.model(t)
	folders, err := json.Marshal([]string{filepath.Dir(model)})
	is.NoErr(err)
	for _, n := range j.Nodes {
		call[api.Empty](t, n.Client, "daemon.set_config", api.DaemonSetConfigParams{Set: map[string]json.RawMessage{"models.folders": folders}})
	}
	// engine is one of the examples, of a program that takes its flags.
	engine := func(name, program string) string {
		text, err := os.ReadFile(filepath.Join("..", "jobfile", "examples", name))
		must(t, "the example", err)
		ours := strings.NewReplacer(strconv.Quote(program), fmt.Sprintf("%q, %q", j.Python, j.Program("llama_server.py")), "MODEL.gguf", "config.json")
		path := filepath.Join(j.Work, name)
		must(t, "the engine", os.WriteFile(path, []byte(ours.Replace(string(text))), 0o644))
		return path
	}
	llama, other := engine("llama-server.toml", "llama-server"), engine("openai.toml", "my-server")
	serve := func(engine string, args ...string) {
		t.Helper()
		got := end(t, j.fulmen(t.Context(), at, append([]string{"serve", filepath.Base(model), "--name", "many", "--engine", engine, "--venv", "", "-d"}, args...)...))
		t.Log(got.out, got.err)
		is.Equal(got.status, api.ExitOK)
	}
	for want, args := range map[string][]string{
		"17 is out of range":           {"--replicas", "17"},
		"cannot all use the same Macs": {"--replicas", "2", "--nodes", string(at.ID)},
		`"a/2" has a slash`:            {"--name", "a/2"},
		"max_nodes":                    {"--max-nodes", "2"}, // of an engine for one Mac
	} {
		got := end(t, j.fulmen(t.Context(), at, append([]string{"serve", filepath.Base(model), "--engine", llama, "--venv", "", "-d"}, args...)...))
		if got.status != api.ExitFailed || !strings.Contains(got.err, want) {
			t.Errorf("%v: %d, %s", args, got.status, got.err)
		}
	}
	list := func() []api.Instance {
		t.Helper()
		got := end(t, j.fulmen(t.Context(), at, "serve", "--json"))
		var all api.InstanceListResult
		must(t, got.out+got.err, json.Unmarshal([]byte(got.out), &all))
		return all.Instances
	}
	var now []api.InstanceReplica
	ready := func(n int) []api.InstanceReplica {
		t.Helper()
		eventually(t, fmt.Sprintf("%d replicas that are ready", n), timeout, func() bool {
			all := list()
			if len(all) != 1 || len(all[0].Replicas) != n {
				return false
			}
			now = all[0].Replicas
			for _, one := range now {
				if one.ReadyAt.IsZero() {
					return false
				}
			}
			return true
		})
		return now
	}
	serve(llama, "--replicas", "3", "--port", fmt.Sprint(freePort(t)))
	three := ready(3)
	macs, ports := map[api.NodeID]bool{}, map[int]bool{}
	for _, one := range three {
		macs[one.Nodes[0]], ports[one.Port] = true, true
	}
	is.Equal(len(macs), 3)
	is.Equal(len(ports), 3)
	serve(llama, "--replicas", "2")
	two := ready(2)
	is.Equal([]api.JobID{two[0].Job, two[1].Job}, []api.JobID{three[0].Job, three[1].Job})
	serve(llama) // as many as there are
	is.Equal(ready(2)[1].Job, two[1].Job)

	if rate := list()[0].TokensPerS; rate == nil || *rate <= 0 {
		t.Error("nobody counts the tokens")
	}
	serve(other, "--replace")
	at.End(syscall.SIGKILL) // what it has begun goes on with the next daemon
	must(t, "a new start", at.Boot(t.Context()))
	eventually(t, "the first to be another", timeout, func() bool { return ready(2)[0].Job != two[0].Job })
	eventually(t, "the second to be another", timeout, func() bool { return ready(2)[1].Job != two[1].Job })
	is.Equal(list()[0].TokensMessage, "The engine's file names no metrics.")
	second, _, err := jobOf(t.Context(), at.Client, now[1].Job)
	is.NoErr(err)
	var spec api.JobSpec
	is.NoErr(json.Unmarshal(second.Spec, &spec))
	is.True(!spec.SubmittedAt.Before(now[0].ReadyAt.Time)) // one after the other

	is.Equal(end(t, j.fulmen(t.Context(), at, "serve", "stop", "many")).status, api.ExitOK)
	is.Equal(len(list()), 0)
	for _, one := range now {
		_, _, err := jobOf(t.Context(), at.Client, one.Job)
		is.True(err != nil)
	}
}
