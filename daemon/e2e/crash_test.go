package e2e

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/native/nativetest/testkit"
)

// asDaemon makes the test binary a daemon in the folder that it names.
const asDaemon = "FULMEN_TEST_AS_DAEMON"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "models" { // a daemon of a test asks for an account's models
		if err := daemon.ReadModels(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	folder := os.Getenv(asDaemon)
	if folder == "" {
		status := m.Run()
		os.RemoveAll(built.folder)
		os.Exit(status)
	}
	err := daemon.Run(context.Background(), daemon.Options{
		Version: "0.0.0-test", Home: environment(folder), Worker: worker(),
		Ready: func(daemon.Address) { fmt.Println("ready") },
	})
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// child starts a daemon in a process of its own, and waits until it serves.
func child(t *testing.T, folder string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	t.Cleanup(cancel)
	process := exec.CommandContext(ctx, os.Args[0])
	process.Env = append(os.Environ(), asDaemon+"="+folder)
	var stderr testkit.Log
	process.Stderr = &stderr
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	if !bufio.NewScanner(out).Scan() {
		process.Wait()
		t.Fatalf("the daemon does not start: %s", stderr.String())
	}
	return process
}

// TestKilledWhileWriting kills the daemon at random moments while it writes
// tokens: whatever it acknowledged is there afterwards, and it starts again.
func TestKilledWhileWriting(t *testing.T) {
	is := is.New(t)
	folder := newHome(t)
	socket := filepath.Join(folder, "run", api.SocketFile)
	rounds := 8
	switch {
	case os.Getenv("FULMEN_SOAK") != "":
		rounds = 100
	case testing.Short():
		rounds = 2
	}
	acknowledged, random := map[string]bool{}, testkit.Drawn(t).Source(0)
	for round := range rounds {
		process := child(t, folder)
		c, err := client.Dial(context.Background(), client.Options{Addresses: []client.Address{{Socket: socket}}})
		is.NoErr(err)
		for _, have := range call[api.DaemonTokensResult](t, c, "daemon.tokens", nil).Tokens {
			delete(acknowledged, have.Name)
			call[api.Empty](t, c, "daemon.revoke_token", api.DaemonRevokeTokenParams{Name: have.Name}) // room for more
		}
		is.Equal(len(acknowledged), 0) // nothing that was acknowledged is lost
		time.AfterFunc(time.Duration(random.IntN(60))*time.Millisecond, func() { process.Process.Signal(syscall.SIGKILL) })
		for n := 0; ; n++ {
			name := fmt.Sprintf("round-%d-%d", round, n)
			if _, err := client.Call[api.DaemonCreateTokenResult](context.Background(), c, "daemon.create_token", api.DaemonCreateTokenParams{Name: name}); err != nil {
				break // killed, or no room for more
			}
			acknowledged[name] = true
		}
		process.Wait()
		c.Close()
		is.Equal(process.ProcessState.Sys().(syscall.WaitStatus).Signal(), syscall.SIGKILL)
	}
	aside, err := filepath.Glob(filepath.Join(folder, "state", "*.damaged-*"))
	is.NoErr(err)
	is.Equal(len(aside), 0) // no database was damaged
}
