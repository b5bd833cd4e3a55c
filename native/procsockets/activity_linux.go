package procsockets

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"fulmen/native"
)

const (
	// clockTick is the unit of times in /proc, the same on every system that Go runs on.
	clockTick = time.Second / 100
	// diagInfo asks for what a connection has carried (INET_DIAG_INFO), of which the kernel's
	// struct tcp_info has sent and acknowledged, and received, at these places.
	diagInfo           = 2
	sentAt, receivedAt = 120, 128
)

// Activity is what the group's leader, what has its session, and what they have started, have
// done so far.
func (Processes) Activity(group int) (native.Activity, error) {
	leader, err := readStat(filepath.Join("/proc", strconv.Itoa(group), "stat"))
	if err != nil {
		return native.Activity{}, err
	}
	var a native.Activity
	inodes, seen := map[string]bool{}, map[int]bool{}
	next := []int{group}
	for _, beside := range children(leader.parent) { // its own parent was ended
		if s, err := readStat(fmt.Sprintf("/proc/%d/stat", beside)); err == nil && (s.session == group || s.group == group) {
			next = append(next, beside)
		}
	}
	for ; len(next) > 0; next = next[1:] {
		if pid := next[0]; !seen[pid] {
			seen[pid] = true
			addActivity(&a, pid, inodes)
			next = append(next, children(pid)...)
		}
	}
	if carried, err := carriedBy(inodes); err == nil {
		a.NetworkBytes = &carried
	}
	return a, nil
}

// addActivity adds that of one process.
func addActivity(a *native.Activity, pid int, inodes map[string]bool) {
	folder := "/proc/" + strconv.Itoa(pid)
	threads, _ := filepath.Glob(folder + "/task/*/stat")
	waits, runs := false, false
	for _, path := range threads {
		s, err := readStat(path)
		if err != nil {
			continue // it has ended meanwhile
		}
		id, _ := strconv.ParseUint(filepath.Base(filepath.Dir(path)), 10, 64)
		a.Threads = append(a.Threads, native.Thread{ID: id, User: s.user, System: s.system})
		a.Faults += s.faults
		switch s.state {
		case 'T':
			a.Halt = native.HaltStopped
		case 't':
			a.Halt = native.HaltTraced
		case 'D':
			waits = true
		case 'R':
			runs = true
		}
	}
	if waits && !runs && a.Halt == "" {
		a.Halt = native.HaltUninterruptible
	}
	if text, err := os.ReadFile(folder + "/io"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, value, _ := strings.Cut(strings.TrimSpace(line), ": "); name == "rchar" || name == "wchar" {
				n, _ := strconv.ParseUint(value, 10, 64)
				a.FileBytes += n
			}
		}
	}
	files, _ := os.ReadDir(folder + "/fd")
	for _, file := range files {
		target, _ := os.Readlink(folder + "/fd/" + file.Name())
		if inode, found := strings.CutPrefix(target, "socket:["); found {
			inodes[strings.TrimSuffix(inode, "]")] = true
		}
	}
}

// stat is what is used of a process's or thread's file of that name.
type stat struct {
	state                  byte
	parent, group, session int
	faults                 uint64
	user, system           time.Duration
}

// readStat reads it. The name before the rest is in parentheses, and can hold anything.
func readStat(path string) (stat, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return stat{}, err
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 13 {
		return stat{}, syscall.ESRCH
	}
	number := func(i int) uint64 {
		n, _ := strconv.ParseUint(string(fields[i]), 10, 64)
		return n
	}
	return stat{
		state: fields[0][0], parent: int(number(1)), group: int(number(2)), session: int(number(3)), faults: number(7) + number(9),
		user: time.Duration(number(11)) * clockTick, system: time.Duration(number(12)) * clockTick,
	}, nil
}

// carriedBy is what those TCP connections have carried that have one of the inodes.
func carriedBy(inodes map[string]bool) (total uint64, err error) {
	if len(inodes) == 0 {
		return 0, nil
	}
	socket, err := openDiag()
	if err != nil {
		return 0, err
	}
	defer socket.Close()
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		question := make([]byte, diagAskBytes)
		question[0], question[1], question[2] = family, unix.IPPROTO_TCP, 1<<(diagInfo-1)
		binary.NativeEndian.PutUint32(question[4:], 1<<tcpEstablished|1<<tcpCloseWait)
		answers, err := askRaw(socket, unix.NLM_F_DUMP, question)
		if err != nil {
			if family == unix.AF_INET6 {
				continue // a kernel without IPv6
			}
			return 0, err
		}
		for _, body := range answers {
			if r, err := parseDiagReply(body); err == nil && inodes[r.inode] {
				total += carried(body[diagReplyBytes:])
			}
		}
	}
	return total, nil
}

// carried reads the answer's attributes for what a connection has carried.
func carried(attributes []byte) uint64 {
	for len(attributes) >= 4 {
		size, kind := int(binary.NativeEndian.Uint16(attributes)), binary.NativeEndian.Uint16(attributes[2:])
		if size < 4 || size > len(attributes) {
			break
		}
		if info := attributes[4:size]; kind == diagInfo && len(info) >= receivedAt+8 {
			return binary.NativeEndian.Uint64(info[sentAt:]) + binary.NativeEndian.Uint64(info[receivedAt:])
		}
		attributes = attributes[min(len(attributes), (size+3)&^3):]
	}
	return 0
}
