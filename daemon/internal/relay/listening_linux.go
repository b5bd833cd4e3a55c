package relay

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// listening gives those of the ports on which a process of the group listens.
func listening(group int, ports []int) []int {
	sockets := map[string]int{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, err := os.ReadFile(table)
		if err != nil {
			continue // the kernel has no IPv6
		}
		for inode, port := range listeners(text) {
			if slices.Contains(ports, port) {
				sockets["socket:["+inode+"]"] = port
			}
		}
	}
	if len(sockets) == 0 {
		return nil
	}
	var open []int
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, process := range processes {
		stat, err := os.ReadFile(process + "/stat")
		if err != nil || !inGroup(stat, group) {
			continue
		}
		links, _ := os.ReadDir(process + "/fd")
		for _, link := range links {
			target, err := os.Readlink(process + "/fd/" + link.Name())
			if port := sockets[target]; err == nil && port != 0 && !slices.Contains(open, port) {
				open = append(open, port)
			}
		}
	}
	return open
}

// listeners reads /proc/net/tcp or tcp6 (proc(5)): the inodes of the sockets in
// state LISTEN, with their ports.
func listeners(table []byte) map[string]int {
	const listen = "0A"
	out := map[string]int{}
	for line := range bytes.Lines(table) {
		// sl local_address rem_address st tx:rx tr:tm retrnsmt uid timeout inode
		fields := strings.Fields(string(line))
		if len(fields) < 10 || fields[3] != listen {
			continue
		}
		_, hex, ok := strings.Cut(fields[1], ":")
		port, err := strconv.ParseUint(hex, 16, 16)
		if ok && err == nil {
			out[fields[9]] = int(port)
		}
	}
	return out
}

// inGroup reads /proc/PID/stat (proc(5)): the process group and the session are
// the fields behind the parent's id. The name before them may hold anything.
func inGroup(stat []byte, group int) bool {
	at := bytes.LastIndexByte(stat, ')')
	if at < 0 {
		return false
	}
	fields := strings.Fields(string(stat[at+1:]))
	number := strconv.Itoa(group)
	return len(fields) > 3 && (fields[2] == number || fields[3] == number)
}
