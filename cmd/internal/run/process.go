package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"fulmen/daemon/api/worker"
)

// evidence is how much of a worker's standard error is kept: the end of it.
const evidence = 4 << 10

// start runs the worker with a command line whose first word is command, shows
// its progress, and decodes its result into value.
func start(ctx context.Context, program string, environment []string, screen *screen, value any, command worker.Command, flags ...string) error {
	process := exec.CommandContext(ctx, program, append([]string{string(command)}, flags...)...)
	process.Env = append(os.Environ(), environment...)
	process.Cancel = func() error { return process.Process.Signal(syscall.SIGTERM) }
	process.WaitDelay = 2 * time.Second
	var stderr tail
	process.Stderr = &stderr
	// The worker ends when this pipe does: it does not outlive this program.
	life, err := process.StdinPipe()
	if err != nil {
		return err
	}
	defer life.Close()
	messages, theirs, err := os.Pipe()
	if err != nil {
		return err
	}
	defer messages.Close()
	process.ExtraFiles = []*os.File{theirs} // the first one is descriptor 3
	err = process.Start()
	theirs.Close()
	if err != nil {
		return fmt.Errorf("cannot start the worker: %w; make build makes it", err)
	}
	outcome := follow(messages, screen, value)
	ended := process.Wait()
	screen.clear()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(outcome, worker.ErrNoLastWord) {
		return fmt.Errorf("the worker ended without a result (%v); its last words:\n%s", ended, stderr.String())
	}
	return outcome
}

// follow shows a worker's messages until its last word.
func follow(messages io.Reader, screen *screen, value any) error {
	reader := worker.NewReader(messages)
	for {
		message, err := reader.Next()
		if err != nil {
			return err
		}
		switch message.Type {
		case worker.TypeProgress:
			screen.progress(*message.Progress)
		case worker.TypeLog:
			screen.line("note: " + message.Log.Text)
		case worker.TypeError:
			return message.Error
		case worker.TypeResult:
			return message.Decode(value)
		}
	}
}

// tail keeps the end of what is written to it.
type tail struct{ kept []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if extra := len(t.kept) - evidence; extra > 0 {
		t.kept = t.kept[extra:]
	}
	return len(p), nil
}

func (t *tail) String() string { return string(bytes.TrimSpace(t.kept)) }
