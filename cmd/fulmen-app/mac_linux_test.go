package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/app/mac/goflags"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/testcluster"
)

// The app for macOS, over imitations of Objective-C and of Apple's frameworks that
// end it over a selector, a type, a thread or an object that a Mac would not take,
// is installed, pairs Macs, changes RDMA as an administrator, notifies, and ends.
func TestMacApp(t *testing.T) {
	if testing.Short() {
		t.Skip("the app is compiled for it, and a cluster is paired first")
	}
	is := is.New(t)
	root := filepath.Join("..", "..")
	stage, err := testcluster.NewStage(root)
	t.Cleanup(stage.Close)
	if errors.Is(err, testcluster.ErrNobody) {
		t.Skip(err)
	}
	is.NoErr(err)
	tree, err := prepareMac(t.Context(), root, "app")
	if errors.Is(err, errNoLibffi) {
		t.Skip(err)
	}
	is.NoErr(err)
	tools := filepath.Join(stage.Folder, "tools")
	is.NoErr(tree.installIn(filepath.Join(stage.Folder, "Applications"), tools, filepath.Join(stage.Folder, "none")))
	is.NoErr(os.Mkdir(tools, 0o755))
	is.NoErr(os.WriteFile(filepath.Join(tools, "osascript"), []byte("#!/bin/sh\necho \"$2\" >&2\nexit 1\n"), 0o755)) // it says what it was to do
	program, err := tree.build(t.Context(), "./cmd/fulmen-app", goflags.Flag())
	is.NoErr(err)
	programs := filepath.Join(stage.Folder, "Applications", api.BundleName, "Contents", "MacOS")
	is.NoErr(os.MkdirAll(programs, 0o755))
	is.NoErr(testcluster.Link(program, filepath.Join(programs, "fulmen-app"), false))
	is.NoErr(testcluster.Link(tree.libraryFile(), filepath.Join(programs, filepath.Base(tree.libraryFile())), false))
	is.NoErr(stage.Build(t.Context(), "fulmen/cmd/fulmend", "fulmen/cmd/fulmen-shim", "fulmen/cmd/fulmen"))
	d, err := stage.Start(t.Context(), clusterScenario(t, stage), []string{"studio-1", "studio-2"}, "")
	t.Cleanup(d.Close)
	is.NoErr(err)

	home := filepath.Join(stage.Work, "home")
	is.NoErr(os.Mkdir(home, 0o777))
	proxy := newGuarded(t, home, d.Nodes[0].Home)
	app := exec.Command(filepath.Join(programs, "fulmen-app"))
	stage.Account.Runs(app, home)
	is.NoErr(stage.Account.Owns(home))
	var reported bytes.Buffer
	app.Stderr = &reported
	writes, err := app.StdinPipe()
	is.NoErr(err)
	reads, err := app.StdoutPipe()
	is.NoErr(err)
	is.NoErr(app.Start())
	ended := false
	t.Cleanup(func() {
		if !ended {
			_ = app.Process.Kill()
			_ = app.Wait()
		}
		if t.Failed() {
			t.Logf("the app said:\n%.4000s", reported.String())
		}
	})
	p := newPerson(t, writes, reads)

	for _, part := range []struct {
		name string
		try  func(t *testing.T)
	}{
		{"is installed", func(t *testing.T) {
			is := is.New(t)
			p.answers("Fulmen", "Close") // who has just installed it is shown how things are
			p.sees("label", "NSStatusBarButton", "Fulmen is not set up")
			p.does("refuse", "daemon SMAppServiceErrorDomain 3 Codesigning failure.")
			p.click("Set Up Fulmen")
			is.True(strings.Contains(p.answers("Set Up Fulmen", "Close")[2], "(SMAppServiceErrorDomain 3)"))
			p.does("refuse", "daemon")
			p.does("approval")
			is.NoErr(os.Chmod(programs, 0o777)) // as a folder that a person dragged there
			p.click("Set Up Fulmen")
			p.answers("Protect Fulmen from changes?", "Continue")
			is.True(strings.Contains(p.answers("Protect Fulmen from Changes", "Close")[2], "/usr/sbin/chown -R root:wheel"))
			is.NoErr(os.Chmod(programs, 0o755))
			p.sees("registered", "daemon")
			p.sees("settings") // where the person approves
			p.does("approve")
			p.shows("2 Macs") // which is looked for: nothing announces it
		}},
		{"is opened at login", func(t *testing.T) {
			is := is.New(t)
			p.does("refuse", "login SMAppServiceErrorDomain 1 Operation not permitted.")
			p.click("Settings", "Open at Login")
			is.True(strings.Contains(p.answers("Open at Login", "Close")[2], "Operation not permitted (SMAppServiceErrorDomain 1)"))
			p.does("refuse", "login")
			p.click("Settings", "Open at Login")
			p.sees("registered", "login")
			p.click("Settings", "Open at Login")
			p.sees("unregistered", "login")
			p.click("Settings", "Install the Command Line Tool…")
			is.True(strings.Contains(p.answers("Install the Command Line Tool", "Close")[2], "/none/fulmen"))
		}},
		{"pairs, notifies, opens", func(t *testing.T) {
			is := is.New(t)
			p.click("Add a Mac", "Show a Code on This Mac")
			is.Equal(len(p.answers("Add a Mac", "Close")[4]), len("XXXX-XXXX"))
			mini, err := d.Add(t.Context(), "mini")
			is.NoErr(err)
			open, err := client.Call[api.ClusterPairResult](t.Context(), mini.Client, "cluster.pair", api.ClusterPairParams{})
			is.NoErr(err)
			p.sees("notified", "Mini")
			p.does("present")
			p.sees("presented", "24") // in the list, as a banner
			p.does("choose")
			p.sees("done")
			p.sees("opened", "http://127.0.0.1:")
			p.click("“Mini” wants to join", "Enter Its Code…")
			p.answers("Add “Mini”?", "OK", open.Code)
			p.answers("Which account may its people use to run programs on this Mac?", "OK", stage.Account.Name)
			p.shows("3 Macs")
		}},
		{"changes RDMA as an administrator", func(t *testing.T) {
			is := is.New(t)
			_, err := client.Call[api.Sharing](t.Context(), d.Nodes[1].Client, "cluster.set_sharing", api.ClusterSetSharingParams{RDMAChanges: api.ChangesMembers})
			is.NoErr(err)
			p.does("grant", "-60006") // errAuthorizationCanceled
			p.click("Cables:", "studio-1 ↔ studio-2", "Enable RDMA…")
			p.answers("Enable RDMA between studio-1 ↔ studio-2?", "Enable")
			p.sees("asked", api.AdminRight, "Fulmen wants to change")
			p.answers("Enable RDMA", "Close")
			p.does("grant", "0")
			p.click("Cables:", "studio-1 ↔ studio-2", "Enable RDMA…")
			p.answers("Enable RDMA between studio-1 ↔ studio-2?", "Enable")
			p.sees("asked", api.AdminRight)
			p.shows("Cables:", "studio-1 ↔ studio-2   80 Gb/s, RDMA ready")
			proxy.mu.Lock()
			defer proxy.mu.Unlock()
			is.Equal(string(proxy.proof), strings.Repeat("p", 32))
		}},
		{"takes links and copies", func(t *testing.T) {
			is := is.New(t)
			p.does("activate")
			p.does("open", "fulmen:job.submit?x=y")
			p.answers("What a link asked for was not done", "Close")
			p.opens()
			p.closes("Fulmen", "Close")
			p.click("Copy Diagnostics")
			is.True(strings.HasPrefix(p.sees("copied")[1], "Fulmen "+version))
		}},
		{"is ended by a logout", func(t *testing.T) {
			is := is.New(t)
			p.opens()
			p.does("end")              // the system ends it, at a logout
			p.sees("closed", "Fulmen") // a dialog whose reason is gone is put away
			p.sees("quit")
			ended = true
			is.NoErr(app.Wait())
		}},
	} {
		if !t.Run(part.name, func(t *testing.T) {
			p.t = t
			part.try(t)
		}) {
			break // what follows builds on it
		}
	}
}
