package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// A Mac among two Linux machines, one with a discrete GPU: totals are of unified memory with
// the rest beside it, and a rank is given the memory in which its GPU computes.
func TestKindsOfMemory(t *testing.T) {
	t.Parallel() // it mostly waits
	needJobs(t)
	is := is.New(t)
	s := newStage(t)
	s.buildFulmen()
	text, err := os.ReadFile("testdata/scenarios/memories.toml")
	is.NoErr(err)
	scenario := filepath.Join(s.Folder, "memories.toml") // for other accounts
	is.NoErr(os.WriteFile(scenario, text, 0o644))
	j := s.cluster(t, scenario, []string{"mac", "gpu", "cpu"}, unhurried)
	prints := func(words []string, args ...string) {
		t.Helper()
		var out string
		defer func() {
			if t.Failed() {
				t.Log(out)
			}
		}()
		eventually(t, "answer of fulmen "+args[0], soon, func() bool {
			got := end(t, j.fulmen(t.Context(), j.Nodes[0], args...))
			out = strings.Join(strings.Fields(got.out), " ")
			for _, word := range words {
				if !strings.Contains(out, word) {
					return false
				}
			}
			return true
		})
	}
	total := "64.0 GiB of unified memory, 80.0 GiB GPU memory of 1 machine, 96.0 GiB RAM of 1 machine, SIMULATED."
	rows := []string{total, " alive 8.00 GiB of 64.0 GiB used ", " alive 80.0 GiB GPU memory, 30.0 GiB of 32.0 GiB RAM used ", " alive 8.00 GiB of 96.0 GiB RAM used "}
	prints(rows, "nodes")
	prints(rows, "status")
	plan := []string{"plan", "--backend", "ring", "-n", "2", "--network", "192.168.1.0/24", "--memory"}
	prints([]string{" gpu exclusive 70.0 GiB GPU ", " cpu exclusive 70.0 GiB RAM "}, append(plan, "70GiB", "--", "true")...)
	prints([]string{" mac exclusive 40.0 GiB unified ", " gpu exclusive 40.0 GiB GPU "}, append(plan, "40GiB", "--nodes", "mac,gpu", "--", "true")...)
	for node, has := range map[string]string{"mac": "48 GiB of unified memory for its GPU", "gpu": "80 GiB of GPU memory", "cpu": "96 GiB of RAM"} {
		prints([]string{node + " has " + has + ", and a rank needs 97 GiB"}, "plan", "-n", "1", "--nodes", node, "--memory", "97GiB", "--", "true")
	}
}
