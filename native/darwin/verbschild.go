//go:build darwin || darwinsim

package darwin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// How long a child may take to ask the devices, and to be gone once it is killed. One
// that a driver holds in the kernel does not go.
const (
	verbsWithin     = 5 * time.Second
	verbsKillWithin = time.Second
)

// maxVerbsAnswer bounds what a child may write.
const maxVerbsAnswer = 1 << 20

// errVerbsHang is an earlier question that the driver still holds.
var errVerbsHang = errors.New("the RDMA driver has not answered an earlier request; restart the Mac")

// childVerbs asks Apple's library in a child with a deadline: calls of it have been
// reported to hang for good, and one inside the daemon would hold it as long.
type childVerbs struct {
	command []string

	asking sync.Mutex // one asks at a time
	stuck  chan error // of a child that was killed and is not gone; nil else

	mu         sync.Mutex
	last       []any
	err        error
	isReported bool
}

// Devices asks a child; the answer is kept for Last.
func (v *childVerbs) Devices() ([]any, error) {
	v.asking.Lock()
	defer v.asking.Unlock()
	devices, err := v.ask()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last, v.err, v.isReported = devices, err, true
	return devices, err
}

// Last is the last answer. It asks where nobody has asked yet.
func (v *childVerbs) Last() ([]any, error) {
	v.mu.Lock()
	devices, err, isReported := v.last, v.err, v.isReported
	v.mu.Unlock()
	if isReported {
		return devices, err
	}
	return v.Devices()
}

func (v *childVerbs) ask() ([]any, error) {
	if v.stuck != nil {
		select {
		case <-v.stuck:
			v.stuck = nil
		default:
			return nil, errVerbsHang
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), verbsWithin)
	defer cancel()
	child := exec.Command(v.command[0], v.command[1:]...)
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	answer := &bounded{most: maxVerbsAnswer}
	child.Stdout = answer
	if err := child.Start(); err != nil {
		return nil, err
	}
	gone := make(chan error, 1)
	go func() { gone <- child.Wait() }()
	select {
	case err := <-gone:
		return answer.devices(err)
	case <-ctx.Done():
	}
	_ = syscall.Kill(-child.Process.Pid, syscall.SIGKILL)
	select {
	case <-gone:
	case <-time.After(verbsKillWithin):
		v.stuck = gone
	}
	return nil, fmt.Errorf("librdma did not answer within %v", verbsWithin)
}

// bounded keeps what is written up to a limit.
type bounded struct {
	bytes.Buffer
	most int
}

// Write fails beyond the limit.
func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.most {
		return 0, io.ErrShortWrite
	}
	return b.Buffer.Write(p)
}

// What a child's answer begins with.
const (
	verbsAnswered = "devices\n"
	verbsFailed   = "result "
)

// devices reads a child's answer.
func (b *bounded) devices(ended error) ([]any, error) {
	text, isAnswer := strings.CutPrefix(b.String(), verbsAnswered)
	failed := &frameworkError{call: "librdma"}
	switch _, err := fmt.Sscanf(b.String(), verbsFailed+"%d", &failed.result); {
	case err == nil:
		return nil, failed
	case ended != nil:
		if exit, ok := errors.AsType[*exec.ExitError](ended); ok && exit.Exited() {
			return nil, fmt.Errorf("the process that called librdma ended with exit code %d", exit.ExitCode())
		}
		return nil, fmt.Errorf("the process that called librdma ended: %w", ended)
	case !isAnswer:
		return nil, errors.New("librdma's answer is not a list of devices")
	}
	return decodeAs[[]any]([]byte(text))
}

// verbsCommand is this program, as the child that asks.
func verbsCommand(arguments []string) []string {
	program, err := os.Executable()
	if err != nil || len(arguments) == 0 {
		return nil
	}
	return append([]string{program}, arguments...)
}

// decodeAs reads one value of a type, to its end.
func decodeAs[T any](b []byte) (T, error) {
	d := decoder{rest: b}
	v := d.value(0)
	if !d.done() {
		return *new(T), errBuffer
	}
	t, ok := v.(T)
	if !ok {
		return t, fmt.Errorf("%w: %T", errBuffer, v)
	}
	return t, nil
}
