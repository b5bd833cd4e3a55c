package command

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// uninstalls puts a program beside the command line that lists and removes what is
// there, and has the daemon put back, leave and stop. It gives what was done, in
// order.
func (r *rig) uninstalls(t *testing.T, undo error) func() []string {
	t.Helper()
	is := is.New(t)
	folder := t.TempDir()
	plan, err := json.Marshal(api.UninstallPlan{Items: []api.UninstallItem{
		{Kind: api.UninstallState, Path: "/var/lib/fulmen/state.db", Bytes: 4096},
		{Kind: api.UninstallOutput, Path: "/var/lib/fulmen/jobs", Bytes: 1 << 20, Jobs: 3, Stays: "You asked to keep it."},
		{Kind: api.UninstallUndo, Path: "/var/lib/fulmen/rdma-undo.json", Stays: "It has changes."},
	}})
	is.NoErr(err)
	result, err := json.Marshal(api.UninstallResult{Removed: []api.UninstallItem{{Kind: api.UninstallState, Path: "/var/lib/fulmen/state.db"}}})
	is.NoErr(err)
	script := "#!/bin/sh\ncase \"$*\" in *-remove*) echo \"$*\" >>'" + folder + "/done'; echo '" + string(result) + "';; *) echo '" + string(plan) + "';; esac\n"
	is.NoErr(os.WriteFile(filepath.Join(folder, "fulmend"), []byte(script), 0o755))
	r.app.Executable = filepath.Join(folder, "fulmen")
	link, err := api.NewLinkID(api.LinkEnd{Node: studio, PortNumber: 1}, api.LinkEnd{Node: mini, PortNumber: 2})
	is.NoErr(err)
	process := exec.Command("sleep", "600")
	is.NoErr(process.Start())
	ended := sync.OnceFunc(func() { _ = process.Process.Kill(); _ = process.Wait() })
	t.Cleanup(ended)
	r.daemon.Set("daemon.info", func(json.RawMessage) (any, error) {
		info := api.DaemonInfoResult{Node: studio, Cluster: clusterID, StartedAt: api.TimeOf(now()), PID: process.Process.Pid, Features: []api.FeatureInfo{}}
		for _, c := range r.daemon.Calls() {
			if c.Method == "cluster.remove" {
				info.Node = guestID // it has begun anew
			}
		}
		return info, nil
	})
	r.daemon.Always("cluster.remove", api.ClusterRemoveResult{Removed: []api.NodeID{studio}})
	r.daemon.Set("rdma.undo", func(raw json.RawMessage) (any, error) {
		var p api.RDMAChangeParams
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, err
		}
		if !p.DryRun && undo != nil {
			return nil, undo
		}
		return api.RDMAChangeResult{Changes: []api.NodeRDMAChange{{Node: studio, RDMAChange: api.RDMAChange{
			Link: link, Change: "c1", State: api.RDMAChangeActive, By: api.Principal{User: "ada", Node: studio}, StartedAt: api.TimeOf(now()), Since: api.TimeOf(now()),
			Steps: []api.RDMAStep{{What: api.RDMAStepBridge, Setting: "bridge0", Text: "Take en3 out of bridge0.", State: api.RDMAStepDone}},
		}}}}, nil
	})
	r.daemon.Set("daemon.stop", func(json.RawMessage) (any, error) {
		go func() {
			r.daemon.Await("daemon.stop") // the answer leaves first
			ended()
			r.daemon.Drop()
		}()
		return api.Empty{}, nil
	})
	return func() []string {
		var all []string
		for _, c := range r.daemon.Calls() {
			switch {
			case c.Method == "rdma.undo" && strings.Contains(string(c.Params), "dry_run"):
			case slices.Contains([]string{"rdma.undo", "cluster.remove", "daemon.stop"}, c.Method):
				all = append(all, c.Method)
			}
		}
		text, _ := os.ReadFile(filepath.Join(folder, "done"))
		for line := range strings.Lines(string(text)) {
			all = append(all, "fulmend "+strings.TrimSpace(line))
		}
		return all
	}
}

func TestUninstall(t *testing.T) {
	orderly := []string{"rdma.undo", "cluster.remove", "daemon.stop"}
	kept, deleted := append(slices.Clone(orderly), "fulmend uninstall -remove"), append(slices.Clone(orderly), "fulmend uninstall -remove -delete-output")
	refused := api.Errorf(api.ReasonRDMAChangeFailed, "", "The bridge is locked.")
	for _, c := range []struct {
		args, input string
		terminal    bool
		undo        error
		status      int
		done        []string
		reports     string
	}{
		{"--dry-run", "", false, nil, 0, nil, "Take en3 out of bridge0."},
		{"", "", false, nil, 1, nil, "no terminal here to ask"},
		{"", "n\nn\n", true, nil, 1, nil, "Nothing was removed."},
		{"", "n\ny\n", true, nil, 0, kept, "Also delete the output of 3 jobs (1.00 MiB)? [y/N]"},
		{"", "y\ny\n", true, nil, 0, deleted, "Take Fulmen off this machine? [y/N]"},
		{"--keep-output", "y\n", true, nil, 0, kept, "Fulmen has been removed from this machine."},
		{"--delete-output", "y\n", true, nil, 0, deleted, "Fulmen has been removed from this machine."},
		{"--yes", "", false, nil, 0, kept, "leaves its cluster of 3"},
		{"--yes --delete-output", "", false, nil, 0, deleted, ""},
		{"--yes", "", false, refused, 1, []string{"rdma.undo"}, "so nothing was removed: The bridge is locked."},
		{"--yes", "", false, api.NewError(api.ReasonRDMANothingToUndo, ""), 0, kept, ""},
	} {
		t.Run(c.args+" "+c.input, func(t *testing.T) {
			is := is.New(t)
			r := newRig(t, c.input)
			r.app.InTerminal = c.terminal
			done := r.uninstalls(t, c.undo)
			if status := r.run(append([]string{"uninstall"}, strings.Fields(c.args)...)...); status != c.status {
				t.Errorf("it ends with %d:\n%s", status, &r.err)
			}
			is.Equal(done(), c.done)
			if reported := r.out.String() + r.err.String(); !strings.Contains(reported, c.reports) {
				t.Errorf("it does not say %q:\n%s", c.reports, reported)
			}
		})
	}
}

func TestRDMAHistory(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	link, err := api.NewLinkID(api.LinkEnd{Node: studio, PortNumber: 1}, api.LinkEnd{Node: mini, PortNumber: 2})
	is.NoErr(err)
	rate := int64(74e9)
	r.daemon.Always("rdma.history", api.RDMAHistoryResult{Changes: []api.RDMAChange{{Link: link, Change: "c1", State: api.RDMAChangeUndone, By: api.Principal{User: "ada", Node: studio}, StartedAt: api.TimeOf(now()), Since: api.TimeOf(now())}}})
	r.daemon.Always("link.history", api.LinkHistoryResult{Paths: []api.PathHistory{
		{LinkRowKey: api.LinkRowKey{From: mini, To: studio, Transport: api.TransportRDMA, Name: link.String()}, Results: []api.LinkResult{{MeasuredAt: api.TimeOf(now()), UpBitsPerS: &rate}}},
		{LinkRowKey: api.LinkRowKey{From: mini, To: studio, Transport: api.TransportSocket, Name: "socket"}, Results: []api.LinkResult{}},
	}})
	is.Equal(r.run("rdma", "history", "mac-studio:1"), 0)
	is.True(strings.Contains(r.out.String(), "put back."))
	is.True(strings.Contains(r.out.String(), "mac-mini to mac-studio, rdma") && !strings.Contains(r.out.String(), "socket"))
	is.Equal(r.called("rdma.history"), []string{`{"link":"mac-studio:1"}`})
}

// What is installed is what the daemon's program says, and it is waited until the
// daemon runs, also where a person had stopped it.
func TestInstall(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	folder := t.TempDir()
	plan, err := json.Marshal(api.InstallPlan{Files: []api.InstallFile{{Path: "/etc/a.service"}, {Path: "/etc/b.socket", IsCurrent: true}}, Commands: []string{"systemctl daemon-reload"}})
	is.NoErr(err)
	script := "#!/bin/sh\necho \"$*\" >>'" + folder + "/done'; echo '" + string(plan) + "'\n"
	is.NoErr(os.WriteFile(filepath.Join(folder, "fulmend"), []byte(script), 0o755))
	r.app.Executable = filepath.Join(folder, "fulmen")
	r.daemon.Always("daemon.start", api.Empty{})
	r.daemon.Always("daemon.info", api.DaemonInfoResult{Node: studio, Cluster: clusterID, PID: 1, StartedAt: api.TimeOf(now()), Features: []api.FeatureInfo{}})

	is.Equal(r.run("install", "--system", "--dry-run"), 0)
	is.True(strings.Contains(r.out.String(), "Would be written: /etc/a.service\nAs it is to be: /etc/b.socket\nWould be run: systemctl daemon-reload\n"))
	is.Equal(len(r.called("daemon.start")), 0)
	if r.run("install") != 0 {
		t.Fatal(&r.err)
	}
	is.True(strings.Contains(r.out.String(), "Run: systemctl daemon-reload\nFulmen runs"))
	is.Equal(len(r.called("daemon.start")), 1)
	did, err := os.ReadFile(filepath.Join(folder, "done"))
	is.NoErr(err)
	is.Equal(string(did), "install -system\ninstall -write\n")
}
