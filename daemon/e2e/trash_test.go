package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/testcluster"
	"fulmen/daemon/internal/rdma"
)

// putBundle writes an app of a version, in place of the one that is there.
func putBundle(t *testing.T, path, version string) {
	t.Helper()
	contents := filepath.Join(path, "Contents")
	must(t, "a bundle", os.MkdirAll(contents, 0o755))
	text := fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0"><dict>
<key>CFBundleIdentifier</key><string>%s</string>
<key>CFBundleShortVersionString</key><string>%s</string>
</dict></plist>`, api.BundleID, version)
	next := filepath.Join(contents, "next")
	must(t, "a bundle", os.WriteFile(next, []byte(text), 0o644))
	must(t, "a bundle", os.Rename(next, filepath.Join(contents, "Info.plist")))
}

// An app that is thrown away puts back what it changed for RDMA, and its daemon ends;
// a newer one in its place ends nothing. What cannot be put back is kept, and the
// daemon of the next installation says so and does it.
func TestAppInTheTrashPutsBack(t *testing.T) {
	if testing.Short() {
		t.Skip("a cluster is paired first")
	}
	is := is.New(t)
	socket, _ := sharedWorld(t, "unready")
	folder, apps := newHome(t), t.TempDir()
	app := filepath.Join(apps, "Fulmen.app")
	putBundle(t, app, "1.0")
	begin := func() *rig {
		simulation, err := daemon.JoinSimulation(t.Context(), "unready:studio-2", socket)
		must(t, "a simulated Mac", err)
		t.Cleanup(func() { simulation.World.Close() })
		r, err := tryRun(t, folder, daemon.Options{Simulation: simulation, Bundle: app, BundleGone: 2 * time.Second})
		must(t, "a daemon", err)
		return r
	}
	one, two := joined(t, newHome(t), "unready:studio-1", socket), begin()
	first := one.dial()
	here, there := idOf(t, one), idOf(t, two)
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	must(t, "joining", testcluster.Join(ctx, first, here, two.dial(), ""))
	must(t, "a whole cluster", testcluster.SeesAlive(ctx, first, 2))
	for _, r := range []*rig{one, two} {
		call[api.Sharing](t, r.dial(), "cluster.set_sharing", api.ClusterSetSharingParams{RDMAChanges: api.ChangesMembers})
	}
	enable := func() {
		eventually(t, "a cable that can be enabled", soon, func() bool {
			return call[api.RDMAReadiness](t, first, "rdma.check", api.LinkSelect{Link: "studio-1:4"}).Verdict == api.RDMACanEnable
		})
		var done api.RDMAChangeResult
		eventually(t, "RDMA that is enabled", soon, func() bool { // there may be no path for a moment
			var err error
			done, err = client.Call[api.RDMAChangeResult](ctx, first, "rdma.enable", api.RDMAChangeParams{Links: []api.LinkRef{"studio-1:4"}})
			return err == nil
		})
		is.Equal(len(done.Changes), 2)
	}
	states := func() (api.RDMAChangeState, api.RDMAChangeState) {
		all := changed(t, first, "4")
		return all[here], all[there]
	}
	enable()
	// The other end hears a moment later that it stays.
	eventually(t, "both ends to be known as changed", soon, func() bool {
		a, b := states()
		return a == api.RDMAChangeActive && b == api.RDMAChangeActive
	})

	putBundle(t, app, "1.1") // an upgrade
	eventually(t, "the newer app to be seen", soon, func() bool { return strings.Contains(two.log.String(), "verdict=replaced") })
	a, b := states()
	is.True(a == api.RDMAChangeActive && b == api.RDMAChangeActive)

	gone := func(r *rig) {
		must(t, "the trash", os.Rename(app, filepath.Join(apps, fmt.Sprintf("gone %d", time.Now().UnixNano()))))
		select {
		case err := <-r.ended:
			r.stop = nil
			is.NoErr(err)
		case <-ctx.Done():
			t.Fatal("the daemon goes on; its log:\n" + r.log.String())
		}
	}
	gone(two)
	// The last word of the one that ended may be lost with the path that it put back; the
	// other end went back by what it said before.
	eventually(t, "the other end to be put back", soon, func() bool {
		a, _ := states()
		return a == api.RDMAChangeUndone
	})
	is.Equal(leftToUndo(t, folder), 0) // the record stays, as all state: the app may come out of the trash

	// It comes back, and is thrown away while the system refuses every change.
	putBundle(t, app, "1.1")
	two = begin()
	must(t, "the earlier cluster", testcluster.SeesAlive(ctx, first, 2))
	enable()
	change(t, first, "set studio-2.configuration refused")
	gone(two)
	is.Equal(leftToUndo(t, folder), 1)
	change(t, first, "set studio-2.configuration free")

	putBundle(t, app, "1.2")
	two = begin()
	eventually(t, "the next installation to say what is left", soon, func() bool {
		all := call[api.NodeConditionsResult](t, two.dial(), "node.conditions", nil).Conditions
		return slices.ContainsFunc(all, func(c api.NodeCondition) bool { return c.Node == there && c.Code == api.ReasonRDMAUndoPartial })
	})
	left, err := client.Call[api.RDMAChangeResult](ctx, two.dial(), "rdma.undo", api.RDMAChangeParams{AllReady: true})
	is.NoErr(err)
	is.True(slices.ContainsFunc(left.Changes, func(c api.NodeRDMAChange) bool { return c.Node == there && c.State == api.RDMAChangeUndone }))
	is.Equal(leftToUndo(t, folder), 0)
}

func idOf(t *testing.T, r *rig) api.NodeID {
	t.Helper()
	return call[api.DaemonInfoResult](t, r.dial(), "daemon.info", nil).Node
}

// leftToUndo counts the changes that the record in a folder says are still to be put
// back.
func leftToUndo(t *testing.T, folder string) (left int) {
	t.Helper()
	files := 0
	must(t, "reading the folder", filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.Name() != api.UndoFile {
			return err
		}
		files++
		records, err := rdma.UndoFile{Path: path}.Load()
		for _, r := range records {
			if r.State != api.RDMAChangeUndone {
				left++
			}
		}
		return err
	}))
	if files != 1 {
		t.Errorf("there are %d records of changes", files)
	}
	return left
}
