package mlxbridge

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"
)

// child is a copy of the test binary that plays a scenario.
func child(ctx context.Context, scenario string, env ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), append(env, childEnv+"="+scenario)...)
	return cmd
}

// playAbort ends in a fault on the stream's own thread.
func playAbort() error {
	debug.SetTraceback("crash") // so that the process dies of the signal, not with status 2
	s, err := NewStream(Device{CPU, 0})
	if err != nil {
		return err
	}
	if err := AbortForTest(s); err != nil {
		return err
	}
	return errors.Join(s.Synchronize(), errors.New("survived"))
}

// What ends a process from inside MLX leaves its signal and its words.
func TestAbortOnMLXThread(t *testing.T) {
	is := is.New(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := child(ctx, "abort")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	var exit *exec.ExitError
	is.True(errors.As(cmd.Run(), &exit))
	status, ok := exit.Sys().(syscall.WaitStatus)
	is.True(ok)
	is.True(status.Signaled())
	is.Equal(status.Signal(), syscall.SIGABRT)
	if !strings.Contains(stderr.String(), "terminat") { // libstdc++ and libc++ word it differently
		t.Errorf("stderr does not say why:\n%s", stderr.String())
	}
}
