package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// prepareGate lets the folder itself be prepared at once, and a copy once there is
// the file that is named.
const prepareGate = `#!/bin/sh
echo "preparing in $PWD"
case $PWD in
*/.fulmen/sync/*) until [ -e "$1" ]; do sleep 0.02; done; echo "the gate is open" ;;
esac
`

// The ranks of a ring start together: MLX gives up on a neighbour that is still
// being prepared. Rank 0 waits for rank 1, the job says so, and both add up.
func testPrepareTogether(t *testing.T, s synced) {
	is := is.New(t)
	s.needPython(t)
	text, err := os.ReadFile(s.Program("all_sum.py"))
	is.NoErr(err)
	s.write(t, map[string]string{"all_sum.py": string(text), "prepare.sh": prepareGate})
	gate := filepath.Join(s.folder, "gate")
	id := s.detached(t, s.Nodes[0], "-n", "2", "--backend", "ring", "--rank0", "here", "--cwd", s.folder, "--sync",
		"--prepare", "./prepare.sh "+gate, "--deadline-preparing", "2m", "--", s.Python, "all_sum.py")
	prepared := func(ranks []api.Rank, rank int) bool { return len(ranks) > rank && !ranks[rank].PreparedAt.IsZero() }
	job, ranks := s.until(t, s.Nodes[1], id, "rank 0 that waits for rank 1", soon, func(job api.Job, ranks []api.Rank) bool {
		return prepared(ranks, 0) && strings.HasPrefix(job.WaitingFor, "rank 1 on")
	})
	is.Equal(job.Phase, api.JobStarting)
	is.Equal(job.WaitingFor, "rank 1 on studio-2 to be prepared")
	for _, r := range ranks {
		is.Equal(r.Phase, api.RankPreparing)
		is.True(r.SpawnedAt.IsZero())
	}
	shown := end(t, s.fulmen(t.Context(), s.Nodes[0], "job", "show", id.String()))
	is.True(strings.Contains(shown.out, "studio-2 is being prepared"))
	is.True(strings.Contains(shown.out, "prepared, waiting for the others")) // rank 0
	listed := end(t, s.fulmen(t.Context(), s.Nodes[1], "jobs"))
	is.True(strings.Contains(listed.out, "starting: studio-2 is being prepared"))

	opened := time.Now()
	s.write(t, map[string]string{"gate": "open"})
	job, ranks = s.until(t, s.Nodes[0], id, "end", timeout, hasEnded)
	is.Equal(job.Phase, api.JobSucceeded)
	is.Equal(len(job.Attempts), 1)
	for i, r := range ranks {
		is.True(prepared(ranks, i))
		is.True(!r.SpawnedAt.Before(opened.Truncate(time.Millisecond))) // all daemons are on this machine, and have its clock
	}
	printed := end(t, s.fulmen(t.Context(), s.Nodes[0], "job", "logs", id.String()))
	is.Equal(strings.Count(printed.out, "of 2: the sum is 3"), 2)

	// What the preparation printed is shown wherever somebody asks.
	logs := func(args ...string) string {
		got := end(t, s.fulmen(t.Context(), s.Nodes[0], append([]string{"job", "logs", id.String(), "--prepare"}, args...)...))
		is.Equal(got.out, "")
		return got.err
	}
	is.Equal(logs("--rank", "0"), "preparing in "+s.folder+"\n")
	is.True(strings.HasSuffix(logs("--rank", "1"), "\nthe gate is open\n"))
	is.Equal(strings.Count(logs(), "preparing in "), 2)
}
