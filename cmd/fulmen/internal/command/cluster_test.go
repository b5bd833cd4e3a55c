package command

import (
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// TestCallsOfACluster holds command lines to what they ask of the daemon.
func TestCallsOfACluster(t *testing.T) {
	for _, c := range []struct {
		line, method, params, out string
	}{
		{"users map ada@mac-mini ada", "cluster.map_user", `{"principal":"ada@axwfk1even66ca3j","account":"ada"}`, "Jobs of ada@mac-mini run here as ada."},
		{"users map mac-mini ada", "cluster.map_user", `{"node":"axwfk1even66ca3j","account":"ada"}`, "Jobs of mac-mini run here as ada."},
		{"users map mac-mini ada --max-priority 50", "cluster.map_user", `{"node":"axwfk1even66ca3j","account":"ada","max_priority":50}`, "Jobs of mac-mini run here as ada."},
		{"users map everybody guest", "cluster.map_user", `{"members":true,"account":"guest"}`, "Jobs of everybody run here as guest."},
		{"users map everybody --nobody", "cluster.map_user", `{"members":true,"account":""}`, "Jobs of everybody do not run here."},
		{"users forget axwf-k1ev-en66-ca3j", "cluster.map_user", `{"node":"axwfk1even66ca3j","account":"","forget":true}`, "a more general line applies"},
		{"users map ada@axwfk1even66ca3j ada", "cluster.map_user", `{"principal":"ada@axwfk1even66ca3j","account":"ada"}`, "run here as ada"},
		{"users unmap ada@mac-mini", "cluster.map_user", `{"principal":"ada@axwfk1even66ca3j","account":""}`, "do not run here."},
		{"sharing set jobs=list jobs_from=ada@mac-mini,bob@macbook", "cluster.set_sharing", `{"jobs":"list","jobs_from":["ada@axwfk1even66ca3j","bob@j79r4zr55xd4ph64"]}`, "KEY"},
		{"sharing set jobs_from= memory_max_bytes=0 idle_after_s=1.5", "cluster.set_sharing", `{"jobs_from":[],"idle_after_s":1.5,"memory_max_bytes":0}`, "KEY"},
		{"sharing set only_on_power=no keep_awake=true rdma_changes=members", "cluster.set_sharing", `{"rdma_changes":"members","only_on_power":false,"keep_awake":true}`, "KEY"},
		{"rename Window", "node.rename", `{"name":"Window"}`, "This Mac is called Window now."},
		{"rename --reset", "node.rename", `{"name":""}`, "the computer's own name again"},
		{"pending ignore mac-mini", "cluster.answer", `{"node":"axwfk1even66ca3j","state":"ignored"}`, "mac-mini is ignored"},
		{"pending again MAC-MINI", "cluster.answer", `{"node":"axwfk1even66ca3j","state":"asking"}`, "fulmen pair --answer"},
		{"invite --valid 10m", "cluster.invite", `{"valid_s":600}`, "fulmen-invite-1.x\n"},
	} {
		t.Run(c.line, func(t *testing.T) {
			is := is.New(t)
			r := newRig(t, "")
			r.daemon.Always(c.method, api.Empty{})
			r.daemon.Always("cluster.invite", api.ClusterInviteResult{Invite: "fulmen-invite-1.x", ExpiresAt: before(-10 * time.Minute)})
			r.shows(macMini())
			is.Equal(r.run(strings.Fields(c.line)...), 0)
			is.Equal(r.called(c.method), []string{c.params})
			is.True(strings.Contains(r.out.String(), c.out))
		})
	}
}

func TestWrongLinesOfACluster(t *testing.T) {
	for _, c := range []struct {
		line    string
		status  int
		reports string
	}{
		{"sharing set jobs=some", 2, "jobs must be one of nobody, mapped, list, not \"some\""},
		{"sharing set nonsense=1", 2, "there is no key \"nonsense\""},
		{"sharing set jobs", 2, "is not KEY=VALUE"},
		{"sharing set idle_after_s=NaN", 2, "number of seconds"},
		{"sharing set memory_max_bytes=-1", 2, "number of bytes"},
		{"sharing set only_on_power=maybe", 2, "true or false"},
		{"sharing set jobs_from=ada@nowhere", 1, "Write it as USER@NODE"},
		{"users map ada ada", 1, "Write it as USER@NODE"},
		{"users map ada@mac-mini", 2, "takes 2 arguments"},
		{"rename", 2, "takes 1 arguments"},
		{"rename a --reset", 2, "takes 0 arguments"},
		{"pending ignore nobody", 1, "0 of the Macs that ask are called \"nobody\""},
		{"invite --valid 0s", 2, "at least 1s"},
	} {
		t.Run(c.line, func(t *testing.T) {
			is := is.New(t)
			r := newRig(t, "")
			is.Equal(r.run(strings.Fields(c.line)...), c.status)
			is.Equal(r.out.String(), "")
			if !strings.Contains(r.err.String(), c.reports) {
				t.Errorf("it does not say %q:\n%s", c.reports, r.err.String())
			}
		})
	}
}

func TestInviteKeepsTheSecretToStandardOutput(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	r.daemon.Always("cluster.invite", api.ClusterInviteResult{Invite: "fulmen-invite-1.x", ExpiresAt: before(-time.Hour)})
	is.Equal(r.run("invite"), 0)
	is.Equal(r.out.String(), "fulmen-invite-1.x\n")
	is.Equal(r.err.String(), "A secret that works once, for 1 h, until 2026-05-01T13:00:00.000Z. On the other Mac: fulmen join --invite -\n")
}

func TestPeersAsJSON(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	is.Equal(r.run("peers", "--json"), 0)
	is.True(strings.Contains(r.out.String(), `"peers": {`) && strings.Contains(r.out.String(), `"nodes": {`))
}
