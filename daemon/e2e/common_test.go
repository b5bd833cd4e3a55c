package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// soon is the deadline of what a cluster does by itself: a dead path is noticed
// in 5 to 10 s, and tried again after pauses of a few seconds; a machine that is busy
// with other tests takes some times as long.
const soon = 90 * time.Second

// processTable lists the machine's processes, a line each: its id and its
// arguments. On Linux no program is needed for that, and a small machine has none.
func processTable(t *testing.T) []string {
	t.Helper()
	if runtime.GOOS != "linux" {
		out, err := exec.Command("ps", "-eo", "pid=,args=").Output()
		must(t, "ps", err)
		return strings.Split(string(out), "\n")
	}
	var all []string
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	must(t, "/proc", err)
	for _, file := range files {
		if args, err := os.ReadFile(file); err == nil && len(args) > 0 { // else it has ended
			all = append(all, filepath.Base(filepath.Dir(file))+" "+strings.TrimSpace(strings.ReplaceAll(string(args), "\x00", " ")))
		}
	}
	return all
}

// parentOf is the process that a process is a child of.
func parentOf(t *testing.T, pid int) (int, bool) {
	t.Helper()
	text := ""
	if runtime.GOOS == "linux" {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return 0, false // it has ended
		}
		// The name, in parentheses, may hold anything.
		if fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:])); len(fields) > 1 {
			text = fields[1]
		}
	} else {
		out, err := exec.Command("ps", "-o", "ppid=", "-p", strconv.Itoa(pid)).Output()
		if err != nil {
			return 0, false
		}
		text = strings.TrimSpace(string(out))
	}
	parent, err := strconv.Atoi(text)
	return parent, err == nil && parent > 1
}

// must ends a test for which something cannot be prepared.
func must(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// eventually looks until something holds.
func eventually(t *testing.T, what string, within time.Duration, holds func() bool) {
	t.Helper()
	deadline := time.After(within)
	// The kernel announces neither counted bytes nor the end of others' sockets.
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("no %s in %v", what, within)
		}
	}
}

// documents waits until the documents that a daemon holds fit.
func documents(t *testing.T, who string, c *client.Client, what string, within time.Duration, sel api.StateSelect, fits func(*client.View) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	var view client.View
	for event, err := range c.Watch(ctx, sel) {
		if err != nil {
			t.Fatalf("%s: waiting for %s: %v", who, what, err)
		}
		if view.Apply(event); fits(&view) {
			return
		}
	}
	text, _ := json.MarshalIndent(view.Docs(), "", " ")
	t.Fatalf("%s: no %s in %v; it has:\n%s", who, what, within, text)
}
