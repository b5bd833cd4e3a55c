package shim

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// rest lists what is left, the program included, without zombies. As a subreaper the
// shim has all of it below itself, whatever group it has moved to.
func (f family) rest() []int {
	if f.alone() {
		return nil
	}
	return descendants(os.Getpid(), f.except)
}

// alone reports whether the shim has no children but its own helpers: then nothing
// is left, since whatever loses its parent becomes a child of this subreaper. It
// saves a look at every process of the machine. The kernel's list can miss a child
// while another one ends: what counts is what two looks agree on.
func (f family) alone() bool {
	first, ok := children()
	if !ok || len(first) > len(f.except) {
		return false
	}
	again, ok := children()
	return ok && slices.Equal(first, again) && !slices.ContainsFunc(again, func(pid int) bool { return !slices.Contains(f.except, pid) })
}

// children lists the children of all threads of this process, zombies too; false
// where the kernel has no such list.
func children() (all []int, ok bool) {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil, false
	}
	for _, thread := range threads {
		text, err := os.ReadFile("/proc/self/task/" + thread.Name() + "/children")
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // a thread that has ended; its children have another one
		}
		if err != nil {
			return nil, false
		}
		ok = true
		for _, word := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(word)
			if err != nil {
				return nil, false
			}
			all = append(all, pid)
		}
	}
	slices.Sort(all)
	return all, ok
}

// kill kills all that is left and reports whether there was anything.
func (f family) kill() bool {
	rest := f.rest()
	for _, pid := range rest {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return len(rest) > 0
}

// left reports whether anything is left.
func (f family) left() bool { return len(f.rest()) > 0 }

// descendants lists the living processes below one, without those named and what
// is below them.
func descendants(of int, except []int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	zombie := map[int]bool{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		state, parent, ok := readStat(pid)
		if !ok {
			continue
		}
		children[parent] = append(children[parent], pid)
		zombie[pid] = state == 'Z' || state == 'X'
	}
	var found []int
	queue := []int{of}
	for len(queue) > 0 {
		next := children[queue[0]]
		queue = queue[1:]
		for _, pid := range next {
			if slices.Contains(except, pid) {
				continue
			}
			queue = append(queue, pid)
			if !zombie[pid] {
				found = append(found, pid)
			}
		}
	}
	return found
}

// readStat reads state and parent from /proc/PID/stat. The name before them is
// in parentheses and can hold anything.
func readStat(pid int) (state byte, parent int, ok bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, false
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 {
		return 0, 0, false
	}
	parent, err = strconv.Atoi(string(fields[1]))
	return fields[0][0], parent, err == nil
}
