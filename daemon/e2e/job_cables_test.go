package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/sim/scenario"
)

// twoCables is a scenario of two Macs that two cables join, made of mesh-4.
func twoCables(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../native/sim/scenario/shipped/mesh-4.toml")
	must(t, "the scenario", err)
	parts := slices.DeleteFunc(strings.Split(string(text), "\n[["), func(part string) bool {
		return strings.HasPrefix(part, "link]]") || strings.Contains(part, `"studio-2.tb5", "studio-4.tb5"`)
	})
	changed := strings.NewReplacer(`"studio-1.tb5", "studio-3.tb5"`, `"studio-1.tb5", "studio-2.tb5"`, "169.254.1.13/30", "169.254.1.6/30").Replace(strings.Join(parts, "\n[["))
	dir := t.TempDir()
	must(t, "a folder for other accounts", os.Chmod(filepath.Dir(dir), 0o755))
	path := filepath.Join(dir, "two-cables.toml")
	must(t, "the scenario", os.WriteFile(path, []byte(changed), 0o644))
	_, err = scenario.Load(path)
	must(t, "the scenario", err)
	return path
}

// A job over two cables of a pair sends over both, half over each; the plan says so, and
// the ranks are granted both ports.
func TestTwoCablesOfAPair(t *testing.T) {
	t.Parallel() // it mostly waits
	needJobs(t)
	is := is.New(t)
	j := &jaccl{jobs: newJobsOn(t, twoCables(t), []string{"studio-1", "studio-2"}, unhurried), size: 2}
	j.standin = j.buildStandin()
	job, ranks := j.whole(t, "-exchange", "1048576")
	is.Equal(job.Phase, api.JobSucceeded)
	plan := job.Attempts[0].Plan
	is.Equal(plan.Cables(), 2)
	is.Equal(len(plan.Links), 2)
	reported := j.printed(t, ranks[0].Job)
	for rank, r := range plan.Ranks {
		is.Equal(len(r.PortNumbers), 2)
		for _, name := range plan.Devices[rank][1-rank] {
			is.True(strings.Contains(reported, fmt.Sprintf("rank %d: %s carried 1048576 bytes\n", rank, name))) // half a MiB each way
		}
	}
	shown := end(t, j.fulmen(t.Context(), j.Nodes[0], append([]string{"plan"}, j.args()...)...)).out
	is.True(strings.Contains(shown, "joined as a mesh, 2 cables each"))
	j.leavesNothing(t)
}
