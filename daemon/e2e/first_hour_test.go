package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/e2e/testcluster"
)

// shownCode is the code that fulmen pair prints.
var shownCode = regexp.MustCompile(`(?m)^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$`)

// TestFirstHour does with two Macs, on which nobody has set anything up, what somebody
// does with them first: start the daemons, as root where this process is root's, pair
// them, switch RDMA on and enable it, pull the cable and plug it in again, and run jobs
// over ring and JACCL as an ordinary account, with memory asked for and without.
func TestFirstHour(t *testing.T) {
	t.Parallel() // it mostly waits
	needJobs(t)
	needWorker(t)
	is := is.New(t)
	s := newStage(t)
	s.needPython(t)
	s.buildFulmen()
	s.Rehearse = s.buildStandin()
	folder := filepath.Join(s.Folder, "desk")
	must(t, "a folder", os.Mkdir(folder, 0o711)) // other accounts find the sockets in it
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	d, err := testcluster.Start(ctx, testcluster.Options{Fulmend: s.Fulmend, Scenario: "as-delivered", Macs: []string{"studio-1"}, Folder: folder, Config: unhurried, Rehearse: s.Rehearse})
	endsWithTest(t, d)
	must(t, "the first daemon", err)
	_, err = d.Add(ctx, "studio-2")
	must(t, "the second daemon", err)
	j := &jobs{s, d}
	first, second := d.Nodes[0], d.Nodes[1]
	for _, n := range d.Nodes {
		must(t, "opening the folder", os.Chmod(n.Home, 0o711))
	}

	pair := begin(t, j.fulmen(ctx, first, "pair"))
	code := ""
	pair.until(t, "a code", func(reported string) bool { code = shownCode.FindString(reported); return code != "" })
	join := j.fulmen(ctx, second, "join", "--account", s.Account.Name, "--rdma-changes", "members")
	join.Stdin = strings.NewReader(code + "\n")
	if joined := end(t, join); joined.status != api.ExitOK {
		t.Fatalf("fulmen join: %+v", joined)
	}
	is.Equal(pair.status(t, soon), api.ExitOK)
	j.does(t, first, "users", "map", "everybody", s.Account.Name)
	j.does(t, first, "sharing", "set", "jobs=mapped", "rdma_changes=members")
	must(t, "a whole cluster", d.Whole(ctx))

	verdict := func(want api.RDMAVerdict) {
		t.Helper()
		var list api.RDMAListResult
		defer func() {
			if t.Failed() {
				t.Logf("%+v", list)
			}
		}()
		eventually(t, "cable that is "+string(want), soon, func() bool {
			list = call[api.RDMAListResult](t, first.Client, "rdma.list", nil)
			return len(list.Links) == 1 && list.Links[0].Verdict == want
		})
	}
	verdict(api.RDMANeedsPerson)
	is.True(strings.Contains(j.does(t, first, "rdma"), "2 Macs need"))
	for i, n := range d.Nodes { // each goes to Recovery and comes back
		n.End(syscall.SIGTERM)
		change(t, d.Nodes[1-i].Client, "set "+n.Mac+".rdma on")
		must(t, "a daemon started again", n.Boot(ctx))
	}
	must(t, "a whole cluster", d.Whole(ctx))
	verdict(api.RDMACanEnable)
	j.does(t, first, "rdma", "enable", "--all-ready")
	verdict(api.RDMAReady)
	change(t, first.Client, "unplug studio-1.tb4")
	eventually(t, "end of the cable", soon, func() bool { return len(call[api.RDMAListResult](t, first.Client, "rdma.list", nil).Links) == 0 })
	change(t, first.Client, "plug studio-1.tb4 studio-2.tb4")
	verdict(api.RDMAReady)
	eventually(t, "doctor that finds nothing wrong", soon, func() bool { // the other Mac may just have heard of the cable
		return end(t, j.fulmen(t.Context(), first, "doctor")).status == api.ExitOK
	})

	for _, job := range []struct {
		backend api.Backend
		program []string
		prints  string
	}{
		{api.BackendRing, []string{s.Python, s.Program("all_sum.py")}, "rank %d of 2: the sum is 3\n"},
		{api.BackendJACCL, []string{s.Rehearse}, "joined rank %d of 2"},
	} {
		for _, memory := range [][]string{nil, {"--memory", "8GB"}} {
			args := append(append([]string{"run", "-n", "2", "--backend", string(job.backend)}, memory...), "--")
			c := exec.CommandContext(ctx, s.Fulmen, append(args, job.program...)...)
			c.Dir = s.Work
			s.Account.Runs(c, first.Home)
			got := end(t, c)
			for rank := range 2 {
				if line := fmt.Sprintf(job.prints, rank); got.status != api.ExitOK || strings.Count(got.out, line) != 1 {
					t.Errorf("fulmen %s: %q is not there once: %+v", strings.Join(args, " "), line, got)
				}
			}
		}
	}
	j.grantsAreBack(t)
}
