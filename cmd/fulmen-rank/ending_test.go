package main

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api/worker"
)

// inProgress reads up to a progress message whose stage has words in it.
func (p *process) inProgress(words string) {
	p.t.Helper()
	p.until("progress with "+words, func(m worker.Message) bool {
		return m.Progress != nil && strings.Contains(m.Progress.Stage, words)
	})
}

// cancelled checks that the worker's last word is that it was asked to end.
func (p *process) cancelled() {
	p.t.Helper()
	is := is.New(p.t)
	word := p.last()
	is.Equal(word.Type, worker.TypeError)
	is.Equal(word.Error.Reason, worker.ReasonCancelled)
	is.True(word.Error.Stage != "")
	is.Equal(p.status(), 1)
}

func TestSIGTERMWhileMeasuring(t *testing.T) {
	p := start(t, nil, "gpu", "-device", "cpu", "-time", "1h")
	p.inProgress("n =")
	is.New(t).NoErr(p.cmd.Process.Signal(syscall.SIGTERM))
	p.cancelled()
}

// A rank that waits for others is inside MLX, where nothing can interrupt it.
func TestSIGTERMInsideMLX(t *testing.T) {
	is := is.New(t)
	environments := ringOf(t, 2)
	p := start(t, environments[0], "hello", "-backend", "ring", "-wait", "1h")
	p.inProgress("waiting")
	is.NoErr(p.cmd.Process.Signal(syscall.SIGTERM))
	p.cancelled()
}

// A rank in a collective whose peer is stopped waits for ever.
func TestSIGTERMInACollective(t *testing.T) {
	is := is.New(t)
	environments := ringOf(t, 2)
	args := []string{"allreduce", "-backend", "ring", "-min-bytes", "1048576", "-max-bytes", "1048576", "-per-size", "1h"}
	stopped, hung := start(t, environments[0], args...), start(t, environments[1], args...)
	stopped.inProgress("all_sum")
	hung.inProgress("all_sum")
	is.NoErr(stopped.cmd.Process.Signal(syscall.SIGSTOP))
	is.NoErr(hung.cmd.Process.Signal(syscall.SIGTERM))
	hung.cancelled()
	is.NoErr(stopped.cmd.Process.Kill())
	is.Equal(stopped.status(), -1)
}

func TestEndOfInput(t *testing.T) {
	is := is.New(t)
	p := start(t, nil, "gpu", "-device", "cpu", "-time", "1h")
	p.inProgress("n =")
	is.NoErr(p.input.Close())
	word := p.last()
	is.Equal(word.Error.Reason, worker.ReasonCancelled)
	is.True(strings.Contains(word.Error.Message, "input ended"))
	is.Equal(p.status(), 1)
}

// Only a pipe or a socket is a life line: a worker started by hand, or by a
// script with </dev/null, does its work.
func TestEmptyInput(t *testing.T) {
	is := is.New(t)
	null, err := os.Open(os.DevNull)
	is.NoErr(err)
	defer null.Close()
	command := exec.Command(os.Args[0], "gpu", "-device", "cpu", "-time", "100ms")
	command.Env = append(os.Environ(), asWorker+"=1")
	command.Stdin = null
	out, err := command.Output()
	is.NoErr(err)
	is.True(strings.Contains(string(out), "read_bytes_per_s"))
}

func TestDeadline(t *testing.T) {
	is := is.New(t)
	for within := 300 * time.Millisecond; ; within *= 2 {
		p := start(t, nil, "gpu", "-device", "cpu", "-time", "1h", "-deadline", within.String())
		word := p.last()
		is.Equal(p.status(), 1)
		is.Equal(word.Error.Reason, worker.ReasonDeadline)
		if word.Error.Stage == "start" && within < time.Minute {
			continue // a busy machine takes longer than that to find its device
		}
		is.True(strings.Contains(word.Error.Message, "matmul")) // says in what
		return
	}
}

func TestMissingRank(t *testing.T) {
	is := is.New(t)
	environments := ringOf(t, 2)
	p := start(t, environments[0], "hello", "-backend", "ring", "-wait", "300ms")
	word := p.last()
	is.Equal(word.Error.Reason, worker.ReasonGroupInit)
	is.True(strings.Contains(word.Error.Message, "not every rank had joined"))
	is.Equal(p.status(), 1)
}

func TestNoGroup(t *testing.T) {
	is := is.New(t)
	word := start(t, nil, "allreduce", "-backend", "ring").last()
	is.Equal(word.Error.Reason, worker.ReasonGroupInit) // nothing describes a group
	word = start(t, nil, "hello", "-backend", "jaccl").last()
	is.True(word.Error.Reason == worker.ReasonBackendUnavailable || word.Error.Reason == worker.ReasonGroupInit)
}
