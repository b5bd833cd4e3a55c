package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/desk"
)

// rig is the app over a simulated cluster.
type rig struct {
	*desk.Desk
	*menu
	stage *desk.Stage
	// answers is a file with what the stand-in for zenity answers, asked one with
	// what it was asked.
	answers, asked string
	// ended is closed, with err, when the app has ended; quits says that it does so
	// by itself.
	ended chan struct{}
	err   error
	quits bool
}

// newRig starts a cluster, a desktop and the app.
func newRig(t *testing.T, scenario string, macs ...string) *rig {
	t.Helper()
	if testing.Short() {
		t.Skip("a cluster is paired first, and systray does not run under the race detector")
	}
	is := is.New(t)
	stage, err := desk.NewStage(filepath.Join("..", ".."))
	t.Cleanup(stage.Close)
	if errors.Is(err, desk.ErrNobody) {
		t.Skip(err)
	}
	is.NoErr(err)
	is.NoErr(stage.Build(t.Context(), "fulmen/cmd/fulmen-app", "fulmen/cmd/fulmend", "fulmen/cmd/fulmen"))
	b := newBus(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	d, err := stage.Start(ctx, scenario, macs, "")
	t.Cleanup(d.Close)
	is.NoErr(err)

	r := &rig{Desk: d, stage: stage, answers: filepath.Join(stage.Work, "answers"), asked: filepath.Join(stage.Work, "asked"), ended: make(chan struct{})}
	// Dialogs need a screen; this one answers from a file, and no where it is empty.
	tools := filepath.Join(stage.Folder, "tools")
	is.NoErr(os.Mkdir(tools, 0o755))
	script := "#!/bin/sh\nprintf '%s\\n' \"$*\" >>'" + r.asked + "'\nhead -n 1 '" + r.answers + "' | grep . && sed -i 1d '" + r.answers + "'\n"
	is.NoErr(os.WriteFile(filepath.Join(tools, "zenity"), []byte(script), 0o755))
	is.NoErr(os.WriteFile(filepath.Join(tools, "xclip"), []byte("#!/bin/sh\ncat >'"+filepath.Join(stage.Work, "copied")+"'\n"), 0o755))
	is.NoErr(os.WriteFile(filepath.Join(tools, "wl-copy"), []byte("#!/bin/sh\ncat >'"+filepath.Join(stage.Work, "copied")+"'\n"), 0o755))
	r.answer()
	app := d.Nodes[0].Command(context.Background(), filepath.Join(stage.Bin, "fulmen-app"))
	app.Env = append(app.Environ(), "DBUS_SESSION_BUS_ADDRESS="+b.address, "PATH="+tools+":"+os.Getenv("PATH"))
	app.Stdout, app.Stderr = os.Stderr, os.Stderr
	is.NoErr(app.Start())
	go func() { defer close(r.ended); r.err = app.Wait() }()
	t.Cleanup(func() {
		if !r.quits {
			_ = app.Process.Signal(syscall.SIGTERM) // it may have ended
		}
		<-r.ended
		if r.err != nil {
			t.Errorf("the app ended with %v", r.err)
		}
	})
	r.menu = b.appears(ctx)
	return r
}

// answer says what the next dialogs answer.
func (r *rig) answer(lines ...string) {
	text := strings.Join(lines, "\n")
	if text != "" {
		text += "\n"
	}
	if err := os.WriteFile(r.answers, []byte(text), 0o666); err != nil {
		r.t.Fatal(err)
	}
}

func TestAppShowsAndStopsJobs(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "mesh-4", "studio-1", "studio-2")
	first := r.shows("2 Macs")
	is.True(strings.HasSuffix(first.title, "SIMULATED"))
	r.shows("studio-1 (this Mac)")
	r.shows("studio-2")
	r.shows("Cables:", "studio-1 ↔ studio-2")

	// A line that is only read does nothing, though a desktop may send the click.
	is.True(r.shows("studio-2", "Simulated").disabled)
	r.click("studio-2", "Simulated")

	node := r.Nodes[0]
	out, err := node.Command(t.Context(), r.stage.Fulmen, "run", "-n", "1", "--backend", "ring", "--name", "sleeper", "--detach", "--", "sleep", "600").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r.shows("sleeper   1 Mac", "Stop...")
	r.click("sleeper", "Stop...") // and no: nothing is answered
	r.answer("yes")
	r.click("sleeper", "Stop...")
	r.shows("sleeper   stopped")
	list, err := client.Call[api.JobListResult](t.Context(), node.Client, "job.list", api.JobListParams{Ended: true})
	is.NoErr(err)
	is.Equal(len(list.Jobs), 1)
	is.Equal(list.Jobs[0].Phase, api.JobStopped)
	is.Equal(r.shows("sleeper", "Run It Again").disabled, false)
}

func TestAppOutlivesTheDaemon(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "mesh-4", "studio-1", "studio-2")
	r.shows("2 Macs")
	r.Nodes[0].End(syscall.SIGKILL)
	r.shows("Fulmen does not answer")
	r.lacks("studio-2")
	is.NoErr(r.Nodes[0].Boot(t.Context()))
	r.shows("2 Macs")
	r.shows("studio-2")

	r.Nodes[1].End(syscall.SIGKILL)
	r.shows("1 of 2 Macs")
	r.shows("studio-2   not reached")
	is.NoErr(r.Nodes[1].Boot(t.Context()))
	r.shows("2 Macs")
}

func TestAppKeepsItsSettings(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "mesh-4", "studio-1", "studio-2")
	is.True(r.shows("Settings", "Notifications").checked)
	r.click("Settings", "Notifications")
	r.awaits("notifications off", func(all []line) bool {
		l, err := find(all, "Settings", "Notifications")
		return err == nil && !l.checked
	})
	r.click("Settings", "Beside the Icon", "Memory Used")
	r.awaits("memory chosen", func(all []line) bool {
		l, err := find(all, "Settings", "Beside the Icon", "Memory Used")
		return err == nil && l.checked
	})
	text, err := os.ReadFile(filepath.Join(r.Nodes[0].Home, "app.toml"))
	is.NoErr(err)
	is.Equal(string(text), "title = \"memory\"\nnotifications = false\n")

	r.click("Add a Mac...", "Show a Code on This Mac")
	code := r.shows("Code for the other Mac: ")
	is.Equal(len(code.title), len("Code for the other Mac: XXXX-XXXX"))
	r.click("Code for the other Mac", "Stop Adding")
	r.lacks("Code for the other Mac")

	r.click("Copy Diagnostics")
	r.quits = true
	r.click("Quit")
	<-r.ended
}
