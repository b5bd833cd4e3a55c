package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"fulmen/daemon/api/worker"
)

// progressEvery bounds how often progress is told while the stage stays the
// same.
const progressEvery = 100 * time.Millisecond

// Reporter tells a command's progress and its outcome: as messages of the worker's
// protocol, or for a person, progress on standard error and the result on standard
// output. It may be used by several goroutines.
type Reporter struct {
	command  worker.Command
	messages *worker.Writer // nil: for a person
	out, err io.Writer
	began    time.Time

	mu           sync.Mutex
	stage        string
	ratio        float64
	lastReported time.Time
}

// newReporter makes the reporter of a command: onto descriptor 3 where somebody opened
// it for messages, else onto standard output where toOutput asks for messages,
// else for a person.
func newReporter(command worker.Command, toOutput bool) *Reporter {
	r := &Reporter{command: command, out: os.Stdout, err: os.Stderr, began: time.Now()}
	if file := messageFile(worker.FD); file != nil {
		r.messages = worker.NewWriter(file)
	} else if toOutput {
		r.messages = worker.NewWriter(os.Stdout)
	}
	return r
}

// Progress tells what is done now, and how much of the command is done, 0 to
// 1. The ratio never falls: a smaller one than before counts as that.
func (r *Reporter) Progress(stage string, ratio float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	r.ratio = min(max(r.ratio, ratio), 1)
	if stage == r.stage && now.Sub(r.lastReported) < progressEvery {
		return
	}
	fresh := stage != r.stage
	r.stage, r.lastReported = stage, now
	if r.messages == nil {
		if fresh {
			fmt.Fprintf(r.err, "fulmen-rank %s: %s\n", r.command, stage)
		}
		return
	}
	r.send(worker.Message{Type: worker.TypeProgress, Progress: &worker.Progress{
		Stage: stage, DoneRatio: r.ratio, ElapsedS: now.Sub(r.began).Seconds(),
	}})
}

// Stage is what was last told to be done.
func (r *Reporter) Stage() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stage == "" {
		return "start"
	}
	return r.stage
}

// Result sends the command's result, its last word.
func (r *Reporter) Result(value any) error {
	if r.messages == nil {
		text, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(r.out, "%s\n", text)
		return err
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return r.messages.Write(worker.Message{Type: worker.TypeResult, Command: r.command, Value: raw})
}

// Fail sends why there is no result, the last word. People get it too, on
// standard error.
func (r *Reporter) Fail(failure *worker.Error) {
	fmt.Fprintf(r.err, "fulmen-rank %s: %s\n", r.command, failure.Message)
	if failure.Remedy != "" {
		fmt.Fprintf(r.err, "  %s\n", failure.Remedy)
	}
	if r.messages != nil {
		r.send(worker.Message{Type: worker.TypeError, Error: failure})
	}
}

// send writes a message. Where the other end is gone there is nobody to tell;
// the end of the input will end the worker.
func (r *Reporter) send(m worker.Message) {
	m.Command = r.command
	_ = r.messages.Write(m)
}

// messageFile is the descriptor of the protocol, or nil where nobody opened
// it for messages. Descriptor 3 alone proves nothing: make's job server keeps
// the reading end of a pipe there, and the Go runtime may keep its poller.
func messageFile(fd int) *os.File {
	var status unix.Stat_t
	if err := unix.Fstat(fd, &status); err != nil {
		return nil
	}
	switch status.Mode & unix.S_IFMT {
	case unix.S_IFIFO, unix.S_IFSOCK, unix.S_IFREG:
	default:
		return nil
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE == unix.O_RDONLY {
		return nil
	}
	unix.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), "messages")
}
