package e2e

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
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

// processes are the programs of jobs that run, as the system lists them.
func (j *jobs) processes(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, line := range processTable(t) {
		if strings.Contains(line, filepath.Join(j.Folder, "programs")) && !strings.Contains(line, j.Fulmen) {
			all = append(all, strings.TrimSpace(line))
		}
	}
	return all
}

// bytesUnder is how much lies on the disk below a folder.
func bytesUnder(t *testing.T, folder string) int64 {
	t.Helper()
	var sum int64
	must(t, "reading "+folder, filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil // what is gone takes no room
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Sys().(*syscall.Stat_t).Blocks * 512
		}
		return nil
	}))
	return sum
}

func itoa(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// fill fills the file system of a folder, and gives what makes room again.
func fill(t *testing.T, folder string) (free func()) {
	t.Helper()
	ballast := filepath.Join(folder, "ballast")
	file, err := os.Create(ballast)
	must(t, "ballast", err)
	for size := 1 << 20; size >= 1; size /= 16 {
		for err = nil; err == nil; {
			_, err = file.Write(make([]byte, size))
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	must(t, "closing it", file.Close())
	free = sync.OnceFunc(func() { must(t, "making room", os.Remove(ballast)) })
	t.Cleanup(free)
	return free
}
