package e2e

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// jaccl is a cluster with the program that takes the place of one that uses JACCL.
type jaccl struct {
	*jobs
	standin string
	size    int
}

// newJACCL starts the clusters on which JACCL's jobs run in tests.
func newJACCL(t *testing.T, scenario string) *jaccl {
	t.Helper()
	macs := map[string][]string{
		"mesh-4": {"studio-1", "studio-2", "studio-3", "studio-4"},
		"hub-3":  {"macbook-1", "macbook-2", "macbook-3"},
	}[scenario]
	j := &jaccl{jobs: newJobsOn(t, scenario, macs, shortly), size: len(macs)}
	j.standin = filepath.Join(j.Bin, "standin")
	out, err := exec.Command("go", "build", "-o", j.standin, "fulmen/daemon/e2e/jaccl/standin").CombinedOutput()
	must(t, "the stand-in: "+string(out), err)
	return j
}

// args are those of a job of the stand-in over all nodes.
func (j *jaccl) args(backend api.Backend, more ...string) []string {
	return append([]string{"-n", strconv.Itoa(j.size), "--backend", string(backend), "--", j.standin}, more...)
}

// TestJACCLJobs runs jobs of JACCL's stand-in over real daemons.
func TestJACCLJobs(t *testing.T) {
	needJobs(t)
	for _, scenario := range []string{"hub-3", "mesh-4"} {
		t.Run(scenario, func(t *testing.T) {
			j := newJACCL(t, scenario)
			t.Run("all join", func(t *testing.T) {
				is := is.New(t)
				got := end(t, j.run(t, j.args(api.BackendJACCL)...))
				t.Log(got.out, got.err)
				is.Equal(got.status, 0)
			})
			j.leavesNothing(t)
		})
	}
}
