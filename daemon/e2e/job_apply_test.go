package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// testApply declares a job by a file: applied again it changes nothing, a change is
// shown first and ends no program unless that is said, and the file undoes it.
func (j *jobs) testApply(t *testing.T) {
	is := is.New(t)
	at := j.Nodes[0]
	file := filepath.Join(j.Work, "declared.toml")
	declare := func(seconds string) {
		text := "name = \"declared\"\nallow_solo = true\n[program]\ncommand = [\"/bin/sleep\", \"" + seconds + "\"]\n" +
			"[placement]\nranks = 2\nbackend = \"ring\"\n"
		must(t, "the file", os.WriteFile(file, []byte(text), 0o644))
	}
	apply := func(flags ...string) (got ran, result api.JobApplyResult) {
		got = end(t, j.fulmen(t.Context(), at, append([]string{"apply", "--json", file}, flags...)...))
		if got.status == api.ExitOK {
			must(t, got.out, json.Unmarshal([]byte(got.out), &result))
		}
		return got, result
	}
	declare("600")
	_, first := apply()
	is.Equal(first.Outcome, api.ApplyCreated)
	j.until(t, at, first.Job, "two ranks that run", timeout, isRunning(2))
	_, again := apply()
	is.Equal(again, api.JobApplyResult{Outcome: api.ApplyUnchanged, Job: first.Job})

	declare("500")
	_, dry := apply("--dry-run")
	is.Equal(dry.Outcome, api.ApplyReplaced)
	is.Equal(dry.Changes, []api.FieldChange{{Field: "program.command", From: `["/bin/sleep","600"]`, To: `["/bin/sleep","500"]`}})
	refused, _ := apply()
	is.Equal(refused.status, api.ExitFailed)
	is.True(strings.Contains(refused.err, string(api.ReasonJobRunning)) && strings.Contains(refused.err, "--replace"))
	j.until(t, at, first.Job, "two ranks that run on", soon, isRunning(2))

	_, second := apply("--replace")
	is.Equal(second.Outcome, api.ApplyReplaced)
	is.Equal(second.Before, first.Job)
	stopped, _ := j.until(t, at, first.Job, "its end", soon, hasEnded)
	is.Equal(stopped.Phase, api.JobStopped)
	j.until(t, at, second.Job, "two ranks that run", timeout, isRunning(2))

	deleted := end(t, j.fulmen(t.Context(), at, "delete", "-f", file))
	if deleted.status != api.ExitOK {
		t.Errorf("fulmen delete ended with %d: %s", deleted.status, deleted.err)
	}
	for _, id := range []api.JobID{first.Job, second.Job} {
		eventually(t, "end of what it has declared", soon, func() bool {
			_, _, err := jobOf(t.Context(), at.Client, id)
			return err != nil
		})
	}
}
