package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// timeout bounds what must become true soon.
const timeout = 2 * time.Minute

// soon waits, without sleeping, for something that no event tells a test.
func soon(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(timeout); !ok(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("not so after %v: %s", timeout, what)
		}
	}
}

// leaks checks, when the test ends, that it left no descriptor, no goroutine
// and no child.
func leaks(t *testing.T) {
	t.Helper()
	descriptors, goroutines := open(), runtime.NumGoroutine()
	t.Cleanup(func() {
		soon(t, "as many goroutines as before", func() bool { return runtime.NumGoroutine() <= goroutines })
		soon(t, fmt.Sprintf("descriptors as before: %v, now %v", descriptors, open()), func() bool {
			return len(open()) <= len(descriptors)
		})
		soon(t, "no child is left", func() bool { return len(children()) == 0 })
	})
}

// open lists this process's descriptors.
func open() []string {
	dir := "/proc/self/fd"
	if runtime.GOOS == "darwin" {
		dir = "/dev/fd"
	}
	entries, _ := os.ReadDir(dir)
	var out []string
	for _, e := range entries {
		target, err := os.Readlink(filepath.Join(dir, e.Name()))
		if err != nil && runtime.GOOS != "darwin" {
			continue // the one that lists them is gone already
		}
		if strings.Contains(target, "[eventpoll]") || strings.Contains(target, "[eventfd]") {
			continue // the runtime's own, made when they are first needed
		}
		out = append(out, e.Name()+" "+target)
	}
	return out
}

// stat is what the kernel tells of a process, from the state on: state, parent,
// group. It is only told on Linux.
func stat(pid string) []string {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return nil
	}
	// The name stands in parentheses and may hold anything.
	return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
}

// children lists the children of this process, zombies too.
func children() []string {
	return processes(func(fields []string) bool { return fields[1] == fmt.Sprint(os.Getpid()) })
}

// members lists the living processes of a group.
func members(group int) []string {
	return processes(func(fields []string) bool { return fields[2] == fmt.Sprint(group) && fields[0] != "Z" })
}

func processes(fits func([]string) bool) []string {
	var out []string
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, f := range folders {
		if fields := stat(filepath.Base(f)); len(fields) > 3 && fits(fields) {
			out = append(out, filepath.Base(f))
		}
	}
	return out
}
