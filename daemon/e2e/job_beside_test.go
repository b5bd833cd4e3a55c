package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// testBeside runs eight ranks of MLX's ring on four Macs and on one: each Mac grants once
// for all of its ranks, and each rank has a document, a log and a prefix of its own.
func (j *jaccl) testBeside(t *testing.T) {
	j.needPython(t)
	is := is.New(t)
	for _, perNode := range []int{2, 8} {
		got := end(t, j.run(t, "-n", "8", "--ranks-per-node", fmt.Sprint(perNode), "--memory", "1GiB", "--", j.Python, j.Program("collectives.py")))
		if got.status != 0 {
			t.Fatalf("%d ranks a Mac: %+v", perNode, got)
		}
		for rank := range 8 {
			is.Equal(strings.Count(got.out, fmt.Sprintf("[%d] rank %d of 8 by %d of 8: all is right\n", rank, rank, rank)), 1)
		}
	}

	id := j.detached(t, j.Nodes[0], "-n", "6", "--ranks-per-node", "3", "--memory", "1GiB", "--backend", "ring", "--", j.Python, j.Program("hang.py"))
	job, ranks := j.until(t, j.Nodes[0], id, "run of each rank", timeout, isRunning(6))
	held := map[string]int64{}
	for _, at := range j.Nodes {
		for _, d := range call[api.StateGetResult](t, at.Client, "state.get", api.StateSelect{Kinds: []api.Kind{api.KindGrant}, Nodes: []api.NodeRef{api.NodeRef(at.ID)}}).Docs {
			var g api.Grant
			is.NoErr(d.Decode(&g))
			held[d.Name] += g.MemoryBytes
		}
	}
	is.Equal(held, map[string]int64{string(id) + "/1/0": 3 << 30, string(id) + "/1/3": 3 << 30})
	is.Equal(job.OpenAttempt().Plan.Ranks[5].Node, job.OpenAttempt().Plan.Ranks[3].Node)
	eventually(t, "word of each rank", after, func() bool { return strings.Count(j.printed(t, id), "waiting ") == 6 })
	logged := end(t, j.fulmen(t.Context(), j.Nodes[0], "job", "logs", string(id), "--rank", "4")).out
	is.Equal(logged, fmt.Sprintf("waiting %d\n", ranks[4].PID))
	must(t, "the end of rank 4", syscall.Kill(ranks[4].PID, syscall.SIGKILL))
	job, _ = j.until(t, j.Nodes[0], id, "end", timeout, hasEnded)
	is.Equal(*job.Attempts[0].FirstFailed, 4)
	areGone(t, after, pidsOf(ranks))
}
