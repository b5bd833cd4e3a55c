package home

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// TestMain turns the test program into one that holds a lock, when a test asks for that.
func TestMain(m *testing.M) {
	if path := os.Getenv("HOLD_LOCK"); path != "" {
		l, err := TryLock(path)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("held")
		io.Copy(io.Discard, os.Stdin)
		l.Release()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// hold starts a process that holds the lock and returns once it does.
func hold(t *testing.T, path string) (cmd *exec.Cmd, stop io.Closer) {
	t.Helper()
	is := is.New(t)
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "HOLD_LOCK="+path)
	in, err := cmd.StdinPipe()
	is.NoErr(err)
	out, err := cmd.StdoutPipe()
	is.NoErr(err)
	is.NoErr(cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line := make([]byte, 5)
	_, err = io.ReadFull(out, line)
	is.NoErr(err)
	is.Equal(string(line), "held\n")
	return cmd, in
}

func TestSecondDaemonNamesTheFirst(t *testing.T) {
	is := is.New(t)
	f := under(t.TempDir(), api.ModeUser)
	is.NoErr(f.Create())
	cmd, _ := hold(t, filepath.Join(f.State, LockFile))
	_, err := f.Lock()
	is.True(errors.Is(err, api.ReasonAlreadyRunning))
	is.True(strings.Contains(err.Error(), fmt.Sprintf("process %d.", cmd.Process.Pid)))

	is.NoErr(cmd.Process.Signal(syscall.SIGKILL))
	cmd.Wait()
	l, err := f.Lock() // what died holds nothing
	is.NoErr(err)
	text, err := os.ReadFile(filepath.Join(f.State, LockFile))
	is.NoErr(err)
	is.Equal(string(text), fmt.Sprintln(os.Getpid()))
	is.NoErr(l.Release())
	l, err = f.Lock()
	is.NoErr(err)
	is.NoErr(l.Release())
}

func TestLockHeldByUnknown(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "no number": "fulmend\n", "negative": "-1\n", "nobody": "2147483646\n", "binary": "\x00\xff\x01",
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			path := filepath.Join(t.TempDir(), "lock")
			l, err := TryLock(path)
			is.NoErr(err)
			defer l.Release()
			is.NoErr(os.WriteFile(path, []byte(text), 0o600))
			_, err = TryLock(path)
			is.True(errors.Is(err, api.ReasonAlreadyRunning))
			is.True(strings.Contains(err.Error(), "an unknown process"))
		})
	}
}

func TestWaitLock(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "lock")
	_, stop := hold(t, path)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := WaitLock(ended, path)
	is.True(errors.Is(err, api.ReasonAlreadyRunning)) // and not only that the time is over

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	is.NoErr(stop.Close())
	l, err := WaitLock(ctx, path)
	is.NoErr(err)
	is.NoErr(l.Release())
}

func TestLockIsNoLink(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	is.NoErr(os.WriteFile(filepath.Join(dir, "precious"), []byte("kept"), 0o600))
	is.NoErr(os.Symlink("precious", filepath.Join(dir, "lock")))
	_, err := TryLock(filepath.Join(dir, "lock"))
	is.True(err != nil)
	text, err := os.ReadFile(filepath.Join(dir, "precious"))
	is.NoErr(err)
	is.Equal(string(text), "kept") // nobody has root write a pid into another file
}
