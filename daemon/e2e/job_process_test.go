package e2e

import (
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// statusOf is the status by which a shell would report how a command ended.
func statusOf(c *exec.Cmd) int {
	switch wait := c.ProcessState.Sys().(syscall.WaitStatus); {
	case wait.Signaled():
		return 128 + int(wait.Signal())
	default:
		return wait.ExitStatus()
	}
}

// forked finds the process ids that testdata/programs print.
var forked = regexp.MustCompile(`(?:forked|waiting|stubborn)((?: \d+)+)`)

// pidsIn are the processes that a program named.
func pidsIn(out string) []int {
	var all []int
	for _, found := range forked.FindAllStringSubmatch(out, -1) {
		for _, field := range strings.Fields(found[1]) {
			if pid, err := strconv.Atoi(field); err == nil {
				all = append(all, pid)
			}
		}
	}
	return all
}

// endOf kills a process that a test started.
func endOf(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) }

// areGone waits until no process is left, and kills what stays.
func areGone(t *testing.T, within time.Duration, pids []int) {
	t.Helper()
	deadline := time.Now().Add(within)
	for _, pid := range pids {
		for !isGone(pid) {
			if time.Now().After(deadline) {
				t.Errorf("process %d is left", pid)
				endOf(pid)
				break
			}
			pause()
		}
	}
}

// isGone reports whether a process has ended.
func isGone(pid int) bool { return syscall.Kill(pid, 0) == syscall.ESRCH }

// pause lets a while go by: the end of a process that is nobody's child here is
// announced to nobody here.
func pause() { <-time.After(20 * time.Millisecond) }
