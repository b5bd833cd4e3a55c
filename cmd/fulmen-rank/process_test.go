package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fulmen/daemon/api/worker"
	"fulmen/daemon/e2e/testcluster"
)

// timeout is the deadline of everything that a test waits for.
const timeout = 2 * time.Minute

// process is a worker that a test started.
type process struct {
	t        *testing.T
	cmd      *exec.Cmd
	input    io.Closer // its life line
	messages *worker.Reader
	stderr   bytes.Buffer
}

// ringOf gives the environments of ranks that are a ring on loopback.
func ringOf(t *testing.T, size int) [][]string {
	t.Helper()
	hosts, err := testcluster.Ring(t.TempDir(), size)
	if err != nil {
		t.Fatal(err)
	}
	all := make([][]string, size)
	for rank := range size {
		all[rank] = []string{"MLX_HOSTFILE=" + hosts, "MLX_RANK=" + strconv.Itoa(rank)}
	}
	return all
}

// start runs the worker; it is killed when the test ends.
func start(t *testing.T, environment []string, args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	t.Cleanup(cancel)
	p := &process{t: t, cmd: exec.CommandContext(ctx, os.Args[0], args...)}
	p.cmd.Env = append(append(os.Environ(), asWorker+"=1"), environment...)
	p.cmd.Stderr = &p.stderr
	p.cmd.WaitDelay = 5 * time.Second
	var err error
	if p.input, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	ours, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close() })
	p.cmd.ExtraFiles = []*os.File{theirs}
	err = p.cmd.Start()
	theirs.Close()
	if err != nil {
		t.Fatal(err)
	}
	p.messages = worker.NewReader(ours)
	return p
}

// until reads messages up to one that fits, and fails where there is none.
func (p *process) until(what string, fits func(worker.Message) bool) worker.Message {
	p.t.Helper()
	for {
		message, err := p.messages.Next()
		if err != nil {
			p.t.Fatalf("no %s: %v; stderr: %s", what, err, p.stderr.String())
		}
		if fits(message) {
			return message
		}
	}
}

// last reads to the last word.
func (p *process) last() worker.Message {
	p.t.Helper()
	return p.until("last word", worker.Message.Last)
}

// result reads the result, and fails where the worker ended without one.
func (p *process) result(value any) {
	p.t.Helper()
	message := p.last()
	if message.Error != nil {
		p.t.Fatalf("failed: %v", message.Error)
	}
	if err := message.Decode(value); err != nil {
		p.t.Fatal(err)
	}
	if status := p.status(); status != 0 {
		p.t.Fatalf("status %d after a result", status)
	}
}

// status waits for the end and gives the exit status, -1 for a signal.
func (p *process) status() int {
	p.t.Helper()
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode()
}

// group starts a worker for each rank of a ring. MLX takes its ports by
// number, so where one was taken by somebody else, all start again.
func group(t *testing.T, size int, args ...string) []worker.Message {
	t.Helper()
	for try := 1; ; try++ {
		var ranks []*process
		for _, environment := range ringOf(t, size) {
			ranks = append(ranks, start(t, environment, args...))
		}
		var words []worker.Message
		for _, rank := range ranks {
			words = append(words, rank.last())
		}
		taken := slices.ContainsFunc(words, func(m worker.Message) bool {
			return m.Error != nil && strings.Contains(m.Error.Message, "bind")
		})
		for _, rank := range ranks {
			if taken {
				rank.cmd.Process.Kill()
			}
			rank.status()
		}
		if !taken || try == 3 {
			return words
		}
	}
}
