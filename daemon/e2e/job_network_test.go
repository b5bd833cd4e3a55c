package e2e

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// Two Macs that only a network joins get no ranks that would talk over it
// unencrypted, unless somebody names the network: then the plan says so.
func TestNetworkHasToBeNamed(t *testing.T) {
	t.Parallel() // it mostly waits
	needJobs(t)
	is := is.New(t)
	s := newStage(t)
	s.buildFulmen()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	d, err := s.Start(ctx, "mixed", []string{"mini-pro", "mini"}, unhurried)
	t.Cleanup(d.Close)
	must(t, "a cluster", err)
	j := &jobs{s, d}
	flags := []string{"-n", "2", "--backend", "ring", "--allow-solo"}
	plan := func(more ...string) ran {
		return end(t, j.fulmen(ctx, j.Nodes[0], slices.Concat([]string{"plan"}, flags, more, []string{"--", "true"})...))
	}

	var got ran
	eventually(t, "path between the two", soon, func() bool {
		got = plan()
		return strings.Contains(got.out, "not Thunderbolt, not named for this job and not trusted")
	})
	is.Equal(got.status, 1)
	is.True(strings.Contains(got.out, "--network 192.168.1.0/24")) // what would help
	refused := end(t, j.run(t, append(flags, "--deadline-placing", "500ms", "--", j.Program("status.sh"), "0")...))
	is.Equal(refused.status, api.ExitNotStarted)
	is.True(strings.Contains(refused.err, "not Thunderbolt, not named for this job and not trusted"))

	for _, network := range []string{"192.168.1.0/24", "en0"} {
		got = plan("--network", network)
		if got.status != 0 || !strings.Contains(got.out, "unencrypted: ") || !strings.Contains(got.out, "talk over en") {
			t.Errorf("--network %s: %+v", network, got)
		}
	}
	if got = plan("--network", "10.0.0.0/8"); got.status != 1 { // another network is none of theirs
		t.Errorf("%+v", got)
	}
	ran := end(t, j.run(t, append(flags, "--network", "192.168.1.0/24", "--", j.Program("environment.sh"))...))
	is.Equal(ran.status, 0)
	is.Equal(strings.Count(ran.out, "world=2"), 2)
}
