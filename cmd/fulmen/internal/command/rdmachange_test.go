package command

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func changedCable() api.RDMAChangeResult {
	link, err := api.NewLinkID(api.LinkEnd{Node: studio, PortNumber: 1}, api.LinkEnd{Node: mini, PortNumber: 2})
	if err != nil {
		panic(err)
	}
	return api.RDMAChangeResult{Changes: []api.NodeRDMAChange{{Node: mini, RDMAChange: api.RDMAChange{
		Link: link, Change: "c1", By: api.Principal{User: "ada", Node: mini}, State: api.RDMAChangeActive, Interface: "en3", Address: netip.MustParsePrefix("169.254.1.1/30"),
	}}}}
}

func TestRDMAChange(t *testing.T) {
	link := string(mini) + ":2~" + string(studio) + ":1"
	for _, c := range []struct {
		line, method, params string
	}{
		{"rdma enable mac-studio:1", "rdma.enable", `{"links":["mac-studio:1"]}`},
		{"rdma enable mac-studio:1~mac-mini:2", "rdma.enable", `{"links":["` + link + `"]}`},
		{"rdma enable --all-ready --dry-run", "rdma.enable", `{"all_ready":true,"dry_run":true}`},
		{"rdma disable mac-studio:1 mac-studio:2", "rdma.disable", `{"links":["mac-studio:1","mac-studio:2"]}`},
		{"rdma undo --all-ready", "rdma.undo", `{"all_ready":true}`},
	} {
		t.Run(c.line, func(t *testing.T) {
			is := is.New(t)
			r := newRig(t, "")
			r.daemon.Always(c.method, changedCable())
			is.Equal(r.run(strings.Fields(c.line)...), 0)
			is.Equal(r.called(c.method), []string{c.params})
			is.True(strings.Contains(r.out.String(), "mac-mini: RDMA is enabled, en3 has 169.254.1.1/30.") || strings.Contains(c.line, "dry-run"))
		})
	}
}

// What was left as it is makes the command fail, after what was done is shown.
func TestRDMAChangeRefused(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	result := changedCable()
	result.Refused = []api.Cause{api.NewError(api.ReasonRDMAChangesRefused, "macbook").Cause()}
	r.daemon.Always("rdma.enable", result)
	is.Equal(r.run("rdma", "enable", "--all-ready"), api.ExitFailed)
	is.True(strings.Contains(r.out.String(), "RDMA is enabled"))
	is.True(strings.Contains(r.err.String(), "macbook: The Mac at the other end does not allow RDMA changes from here."))
}

func TestRDMAChangeUsage(t *testing.T) {
	for _, line := range []string{"rdma enable", "rdma disable", "rdma undo --dry-run", "rdma enable mac-studio:1 --all-ready"} {
		is := is.New(t)
		r := newRig(t, "")
		is.Equal(r.run(strings.Fields(line)...), api.ExitUsage)
		is.True(strings.Contains(r.err.String(), "--all-ready"))
	}
}
