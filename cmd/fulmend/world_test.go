package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native"
	"fulmen/native/sim/remote"
)

// shortFolder is one in which a socket has a path that the system takes.
func shortFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "world")
	is.New(t).NoErr(err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}

// world runs fulmend world and gives what it said when it was ready, what ends
// it, and its exit status.
func world(t *testing.T, socket string) (ready worldReady, end func() error, status <-chan int) {
	t.Helper()
	is := is.New(t)
	in, life := io.Pipe()
	out, reported := io.Pipe()
	over, gone, diagnostics := make(chan int, 1), make(chan struct{}), t.Output()
	go func() {
		defer close(gone)
		over <- ended(runWorld([]string{"--scenario", "two-studios", "--socket", socket, "--with-stdin"}, in, reported), diagnostics)
		_ = reported.Close()
	}()
	t.Cleanup(func() { _ = life.Close(); <-gone })
	line, err := bufio.NewReader(out).ReadBytes('\n')
	is.NoErr(err)
	is.NoErr(json.Unmarshal(line, &ready))
	return ready, life.Close, over
}

func TestWorldIsHosted(t *testing.T) {
	is := is.New(t)
	socket := filepath.Join(shortFolder(t), "world.sock")
	ready, end, status := world(t, socket)
	is.Equal(ready, worldReady{Scenario: "two-studios", Socket: socket, Macs: []string{"studio-1", "studio-2"}})
	info, err := os.Stat(socket)
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), os.FileMode(0o600))

	w, err := remote.Dial(t.Context(), socket)
	is.NoErr(err)
	defer w.Close()
	p, err := w.Platform("studio-2")
	is.NoErr(err)
	defer p.Close()
	_, err = p.Facts.Snapshot(t.Context(), native.AllAreas()...)
	is.NoErr(err)

	is.Equal(ended(runWorld([]string{"--scenario", "two-studios", "--socket", socket}, nil, io.Discard), t.Output()), api.ExitFailed) // it is taken
	is.NoErr(end())
	is.Equal(<-status, api.ExitOK)
	_, err = os.Stat(socket)
	is.True(os.IsNotExist(err))
}

// A world that was killed leaves its socket, and the next one takes the place.
func TestWorldReplacesADeadOne(t *testing.T) {
	is := is.New(t)
	socket := filepath.Join(shortFolder(t), "world.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	is.NoErr(err)
	l.SetUnlinkOnClose(false)
	is.NoErr(l.Close())
	_, end, status := world(t, socket)
	is.NoErr(end())
	is.Equal(<-status, api.ExitOK)

	// What is no socket is nobody's to remove.
	is.NoErr(os.WriteFile(socket, []byte("mine"), 0o600))
	is.Equal(ended(runWorld([]string{"--scenario", "two-studios", "--socket", socket}, nil, io.Discard), t.Output()), api.ExitFailed)
	kept, err := os.ReadFile(socket)
	is.NoErr(err)
	is.Equal(string(kept), "mine")
}

func TestWrongWorlds(t *testing.T) {
	for _, args := range [][]string{
		{"world"}, {"world", "--scenario", "two-studios"}, {"world", "--socket", "x"}, {"world", "--scenario", "nowhere", "--socket", "x"},
		{"run", "--world", "x"},
	} {
		if status := run(args); status != api.ExitUsage {
			t.Errorf("fulmend %q ends with %d", args, status)
		}
	}
	is := is.New(t)
	socket := filepath.Join(shortFolder(t), "world.sock")
	is.Equal(run([]string{"run", "--simulate", "two-studios:studio-1", "--world", socket}), api.ExitFailed) // there is none
	world(t, socket)
	for _, mac := range []string{"two-studios", "two-studios:studio-9", "mesh-4:studio-1", "two-studios:"} {
		is.Equal(run([]string{"run", "--simulate", mac, "--world", socket}), api.ExitUsage)
	}
}
