package systemprofiler

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"fulmen/native"
)

// program is by its full path, so that nobody's PATH decides what runs.
const program = "/usr/sbin/system_profiler"

// RunDeadline is how long [Run] waits; the command takes a second or two.
const RunDeadline = 20 * time.Second

// Run runs the command and reads what it prints. It is for a person who asked
// for a check-up, and for what the registry leaves open after an event; no timer
// calls it. On other systems than macOS the error matches [native.ErrUnsupported].
func Run(ctx context.Context, clock native.Clock) (Result, error) {
	if runtime.GOOS != "darwin" {
		return Result{}, native.Unsupported(native.FactsFeature(native.AreaThunderbolt), native.ReasonNoPlatform.With("system_profiler is a part of macOS"))
	}
	return run(ctx, clock, RunDeadline, program, "-json", DataType)
}

func run(ctx context.Context, clock native.Clock, deadline time.Duration, name string, args ...string) (Result, error) {
	ctx, cancel := native.WithTimeout(ctx, clock, deadline, name)
	defer cancel()
	command := exec.CommandContext(ctx, name, args...)
	// The command starts others of itself: they are ended with it, and one that
	// keeps the pipe open does not hold Wait.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = time.Second
	var out, complaint limited
	out.most, complaint.most = MaxBytes+1, 1024
	command.Stdout, command.Stderr = &out, &complaint
	if err := command.Run(); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return Result{}, fmt.Errorf("%s: %w (%.200q)", name, err, bytes.TrimSpace(complaint.kept.Bytes()))
	}
	result, err := Parse(out.kept.Bytes())
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", name, err)
	}
	return result, nil
}

// limited keeps the beginning of what is written and swallows the rest.
type limited struct {
	kept bytes.Buffer // not embedded: its ReadFrom would go around the limit
	most int
}

func (l *limited) Write(p []byte) (int, error) {
	if room := l.most - l.kept.Len(); room > 0 {
		l.kept.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
