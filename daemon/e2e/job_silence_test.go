package e2e

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// Only a job that prints nothing is ended for silence: attached or not, with one rank
// or two, of which one prints.
func (j *jobs) testSilence(t *testing.T) {
	is := is.New(t)
	const prints, group = `i=0; while [ $i -lt 30 ]; do echo line $i; i=$((i+1)); sleep 0.2; done`, `[ "$FULMEN_RANK" = 1 ] && exec sleep 6; `
	args := func(ranks, script string) []string {
		return []string{"-n", ranks, "--backend", "ring", "--allow-solo", "--deadline-silence", "2s", "--", "sh", "-c", script}
	}
	silent := begin(t, j.run(t, args("1", "echo once; sleep 1000")...))
	attached := begin(t, j.run(t, args("1", prints)...))
	alone, two := j.detached(t, j.Nodes[0], args("1", prints)...), j.detached(t, j.Nodes[0], args("2", group+prints)...)
	is.Equal(silent.status(t, timeout), api.ExitNotStarted)
	is.True(strings.Contains(silent.until(t, "its end", func(string) bool { return true }), "No rank printed anything for 2 s"))
	is.Equal(attached.status(t, timeout), 0)
	is.True(strings.Contains(attached.until(t, "its end", func(string) bool { return true }), "line 29"))
	for _, id := range []api.JobID{alone, two} {
		job, _ := j.until(t, j.Nodes[0], id, "end", timeout, hasEnded)
		is.Equal(job.Phase, api.JobSucceeded)
	}
}
