package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// testKept keeps a service: whether it is killed, or hangs behind an open port, it is started
// again and is ready again, until somebody deletes it.
func (j *jobs) testKept(t *testing.T) {
	j.needPython(t)
	is := is.New(t)
	at, port := j.Nodes[0], freePort(t)
	file := filepath.Join(j.Work, "kept.toml")
	text := fmt.Sprintf("name = \"service\"\nallow_solo = true\nkept = true\non_stall = \"warn\"\n[program]\ncommand = [%q, %q, \"%d\"]\n[placement]\nranks = 2\nbackend = \"ring\"\n[probes.startup]\ncommand = [\"sh\", \"-c\", \"test $MLX_RANK = 0\"]\n"+
		"[probes.readiness]\nport = %[3]d\npath = \"/word\"\nperiod_s = 1\n[probes.liveness]\nport = %[3]d\npath = \"/word\"\nperiod_s = 1\ntimeout_s = 1\nfailure_threshold = 2\n",
		j.Python, j.Program("serve.py"), port)
	must(t, "the file", os.WriteFile(file, []byte(text), 0o644))
	got := end(t, j.fulmen(t.Context(), at, "apply", "--json", file))
	var applied api.JobApplyResult
	must(t, got.out+got.err, json.Unmarshal([]byte(got.out), &applied))
	ready := func(attempt int) (job api.Job, rank0 api.Rank) {
		t.Helper()
		job, ranks := j.until(t, at, applied.Job, fmt.Sprintf("attempt %d that is ready", attempt), timeout, func(job api.Job, ranks []api.Rank) bool {
			return job.Attempt == attempt && job.Phase == api.JobRunning && !job.Attempts[len(job.Attempts)-1].ReadyAt.IsZero() && len(ranks) == 2 && !ranks[0].ReadyAt.IsZero()
		})
		return job, ranks[0]
	}
	_, rank0 := ready(1)
	must(t, "kill rank 0", syscall.Kill(rank0.PID, syscall.SIGKILL))
	job, rank0 := ready(2)
	is.Equal(job.Attempts[0].Reason, api.ReasonRankKilled)
	must(t, "stop rank 0", syscall.Kill(rank0.PID, syscall.SIGSTOP))
	job, _ = ready(3)
	is.Equal(job.Attempts[1].Reason, api.ReasonProbeFailed)
	t.Log(job.Attempts[1].Message)
	got = end(t, j.fulmen(t.Context(), at, "delete", "-f", file))
	is.Equal(got.status, api.ExitOK)
	eventually(t, "end of what it has declared", after, func() bool {
		_, _, err := jobOf(t.Context(), at.Client, applied.Job)
		return err != nil
	})
}

// testMakesRoom has a kept job that is preemptible make room for one of higher priority, by
// SIGTERM, and come back by itself.
func (j *jobs) testMakesRoom(t *testing.T) {
	is := is.New(t)
	at := j.Nodes[0]
	on := []string{"--nodes", j.Nodes[1].Mac, "--allow-solo"}
	stays := j.detached(t, at, append(slices.Clone(on), "--keep", "--preemptible", "--name", "background", "--", "/bin/sh", "-c", "trap 'exit 0' TERM; while :; do sleep 0.1; done")...)
	runs := func(attempt int) func(api.Job, []api.Rank) bool {
		return func(job api.Job, _ []api.Rank) bool {
			return job.Phase == api.JobRunning && len(job.Attempts) == attempt
		}
	}
	j.until(t, at, stays, "a program that runs", timeout, runs(1))
	urgent := append(slices.Clone(on), "--priority", "5", "--", "/bin/sleep", "1")
	plan := end(t, j.fulmen(t.Context(), at, append([]string{"plan", "--priority", "5", "--nodes", j.Nodes[1].Mac}, "--", "/bin/sleep", "1")...))
	is.True(strings.Contains(plan.out, "number 1 in line") && strings.Contains(plan.out, "background"))
	got := end(t, j.run(t, urgent...))
	is.Equal(got.status, 0)
	job, _ := j.until(t, at, stays, "the program again", timeout, runs(2))
	is.Equal(job.Attempts[0].Reason, api.ReasonPreempted)
	is.True(strings.Contains(job.Attempts[0].Message, "The job sleep of "))
	is.True(job.Attempts[0].FirstFailed == nil) // it ended well, and was told to
	j.stop(t, stays)
}

// testServe serves a real model by mlx_lm.server over two Macs: one command to its address, which
// OpenAI's clients use, whatever fails meanwhile.
func (j *jobs) testServe(t *testing.T) {
	j.needMLXLM(t)
	is := is.New(t)
	model := j.model(t)
	text, err := json.Marshal([]string{filepath.Dir(model)})
	is.NoErr(err)
	for _, n := range j.Nodes {
		call[api.Empty](t, n.Client, "daemon.set_config", api.DaemonSetConfigParams{Set: map[string]json.RawMessage{"models.folders": text}})
	}
	asks := j.asks(t, j.Nodes[2], filepath.Base(model))
	for ranks := 2; ranks == 2 || ranks == 3 && os.Getenv("FULMEN_SOAK") != ""; ranks++ {
		j.servesOn(t, model, ranks, asks)
	}
}

// servesOn has so many Macs serve a model, and its service in a storm.
func (j *jobs) servesOn(t *testing.T, model string, ranks int, asks func(context.Context, bool) answered) {
	is := is.New(t)
	at, port := j.Nodes[0], freePort(t)
	fulmen := func(args ...string) ran {
		t.Helper()
		got := end(t, j.fulmen(t.Context(), at, args...))
		t.Log(got.out, got.err)
		return got
	}
	served := fulmen("serve", filepath.Base(model), "--name", "small", "--ranks", strconv.Itoa(ranks), "--backend", "ring", "--port", fmt.Sprint(port), "--venv", filepath.Dir(filepath.Dir(j.Python)))
	is.Equal(served.status, api.ExitOK)
	is.True(strings.Contains(served.out, "small is ready on studio-") && strings.Contains(served.out, fmt.Sprintf(": http://127.0.0.1:%d\n", port)))
	ask := func() (answer string, status int) {
		response, err := http.Post(fmt.Sprintf("http://127.0.0.1:%d/v1/chat/completions", port), "application/json",
			strings.NewReader(`{"messages":[{"role":"user","content":"hello"}],"max_tokens":4}`))
		if err != nil {
			return err.Error(), 0
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		must(t, "an answer", err)
		return string(body), response.StatusCode
	}
	answer, status := ask()
	is.Equal(status, http.StatusOK)
	is.True(strings.Contains(answer, `"choices"`))
	list := fulmen("serve", "--json")
	var all api.InstanceListResult
	must(t, list.out, json.Unmarshal([]byte(list.out), &all))
	is.Equal(len(all.Instances), 1)
	is.Equal(all.Instances[0].Port, port)
	j.storm(t, all.Instances[0].Job, ranks, j.Nodes[2], asks)
	is.True(strings.Contains(fulmen("serve").out, "the attempt before ended: "))
	is.Equal(fulmen("serve", "stop", "small").status, api.ExitOK)
	is.True(strings.Contains(fulmen("serve").out, "You serve no model."))
	gone := asks(t.Context(), false)
	is.Equal(gone.status, http.StatusNotFound)
	is.True(strings.Contains(gone.body, `"code":"model_not_found"`))
}
