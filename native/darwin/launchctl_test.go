package darwin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/matryer/is"
)

// TestWhatLaunchctlSays: an exit status is launchd's refusal; a tool that is not there or
// was killed, or that nobody waits for any more, is none.
func TestWhatLaunchctlSays(t *testing.T) {
	is := is.New(t)
	shell := launchctlAt("/bin/sh")
	reported, err := shell(t.Context(), "-c", "echo pid = 7; echo no >&2")
	is.NoErr(err)
	is.Equal(reported, "pid = 7\n")
	_, err = shell(t.Context(), "-c", "echo pid = 7; echo no >&2; exit 113")
	refusal, ok := errors.AsType[*launchdError](err)
	is.True(ok)
	is.Equal(*refusal, launchdError{status: 113, output: "no\n"})
	isRefusal := func(err error) bool { _, ok := errors.AsType[*launchdError](err); return ok }
	_, err = shell(t.Context(), "-c", "kill -9 $$")
	is.True(err != nil && !isRefusal(err))
	_, err = launchctlAt(t.TempDir()+"/none")(t.Context(), "print", "system")
	is.True(errors.Is(err, fs.ErrNotExist))
	over, end := context.WithCancel(t.Context())
	end()
	_, err = shell(over, "-c", "exit 113")
	is.True(errors.Is(err, context.Canceled))
}

// TestAValueThatTheKernelLacks is told from one that cannot be read.
func TestAValueThatTheKernelLacks(t *testing.T) {
	is := is.New(t)
	is.NoErr(kernelError(nil))
	lacks := kernelError(fmt.Errorf("sysctl: %w", syscall.ENOENT))
	is.True(errors.Is(lacks, errNoValue) && errors.Is(lacks, syscall.ENOENT))
	is.True(!errors.Is(kernelError(syscall.EPERM), errNoValue))
}
