package procsockets

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"fulmen/native"
)

// tables are the kernel's, of IPv4 and IPv6; a kernel may have no IPv6.
func tables() []string { return []string{"/proc/net/tcp", "/proc/net/tcp6"} }

// read gives the rows of both tables that are wanted. The kernel gives a table in
// pieces, and finds its place by counting: where sockets come and go meanwhile, a row
// comes twice, which is mended here, or not at all, which nobody can see.
func read(wants func(state, localPort []byte) bool) ([]row, error) {
	var all []row
	for _, path := range tables() {
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, parseTable(text, wants)...)
	}
	return once(all), nil
}

// once leaves out rows of sockets that were there already; those that nobody has any
// more all have inode 0.
func once(rows []row) []row {
	seen := map[string]bool{"0": false}
	return slices.DeleteFunc(rows, func(r row) bool {
		again := seen[r.inode]
		seen[r.inode] = r.inode != "0"
		return again
	})
}

// Listens tells who listens at a port. Where nobody does, or the same sockets as
// before, which is what is asked most often, that costs a question to the kernel
// alone: no two sockets have one inode. The table in /proc holds the same, and takes
// milliseconds where the kernel's is large, full or not: it is for kernels that
// answer no questions.
func (Processes) Listens(group, port int, before native.Listening) (native.Listening, error) {
	wanted := fmt.Sprintf("%04X", port)
	rows, err := askListening(port)
	if err != nil {
		rows, err = read(func(state, localPort []byte) bool { return string(state) == stateListen && string(localPort) == wanted })
	}
	if err != nil || len(rows) == 0 {
		return native.Listening{}, err
	}
	l := native.Listening{Sockets: names(rows)}
	isSame := before.Group && !before.Others && before.Sockets == l.Sockets
	var held map[string]bool
	if !isSame {
		held = holders(group, rows)
	}
	for _, r := range rows {
		switch {
		case !isSame && !held[r.inode]:
			l.Others = true
		case !l.Group:
			l.Group, l.Room = true, r.room()
		default: // the kernel spreads connections over them
			l.Room = min(l.Room, r.room())
		}
	}
	return l, nil
}

// names are the inodes of sockets, in order.
func names(rows []row) string {
	var all []string
	for _, r := range rows {
		all = append(all, r.inode)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// Holds reports whether a process of the group holds one end of a connection.
func (Processes) Holds(group int, local, remote netip.AddrPort) (bool, error) {
	r, found, err := connected(local, remote)
	return found && holders(group, []row{r})[r.inode], err
}

// Owner is the uid of the account that made one end of a connection.
func (Processes) Owner(local, remote netip.AddrPort) (uint32, error) {
	r, found, err := connected(local, remote)
	if err == nil && !found {
		err = native.ErrNoOwner
	}
	return r.uid, err
}

// Callers gives the far ends of the connections to a listener.
func (Processes) Callers(at netip.AddrPort) ([]netip.AddrPort, error) {
	wanted := fmt.Sprintf("%04X", at.Port())
	rows, err := askAt(int(at.Port()), 1<<tcpEstablished|1<<tcpCloseWait)
	if err != nil {
		rows, err = read(func(state, localPort []byte) bool {
			return string(localPort) == wanted && (string(state) == stateEstablished || string(state) == stateCloseWait)
		})
	}
	var all []netip.AddrPort
	for _, r := range rows {
		if r.local == at {
			all = append(all, r.remote)
		}
	}
	return all, err
}

// Program is the process that holds one end of a connection. Every process that may be
// looked at is.
func (Processes) Program(local, remote netip.AddrPort) (int, string, error) {
	r, found, err := connected(local, remote)
	if err != nil {
		return 0, "", err
	}
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		process, err := strconv.Atoi(entry.Name())
		if err != nil || !found {
			continue
		}
		holds := false
		eachDescriptor("/proc/"+entry.Name()+"/fd", func(target []byte) (enough bool) {
			holds = holds || string(target) == "socket:["+r.inode+"]"
			return holds
		})
		if name, err := readFile("/proc/" + entry.Name() + "/comm"); holds && err == nil {
			return process, strings.TrimSpace(string(name)), nil
		}
	}
	return 0, "", native.ErrNoOwner
}

// connected finds the near end of a connection that a process has open.
func connected(local, remote netip.AddrPort) (end row, found bool, err error) {
	local, remote = unmap(local), unmap(remote)
	wanted := fmt.Sprintf("%04X", local.Port())
	rows, err := askConnected(local, remote)
	if err != nil {
		rows, err = read(func(_, localPort []byte) bool { return string(localPort) == wanted })
	}
	for _, r := range rows {
		// The kernel's own, such as a connection that nobody has any more, have inode 0.
		if r.local == local && r.remote == remote && r.inode != "0" {
			return r, true, err
		}
	}
	return row{}, false, err
}

func unmap(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }

// holders tells which of the sockets a process of the group has open. The group's
// leader is looked at first, and then what it has started: it is most often one of
// them, and to look at every process of a machine takes milliseconds.
func holders(group int, rows []row) map[string]bool {
	wanted := map[string]string{} // what a descriptor links to, to the inode
	for _, r := range rows {
		wanted["socket:["+r.inode+"]"] = r.inode
	}
	found := map[string]bool{}
	look := func(process string) (complete bool) {
		stat, err := readFile(process + "/stat")
		if err != nil || !inGroup(stat, group) {
			return false
		}
		eachDescriptor(process+"/fd", func(target []byte) (enough bool) {
			if inode := wanted[string(target)]; inode != "" {
				found[inode] = true
			}
			return len(found) == len(wanted)
		})
		return len(found) == len(wanted)
	}
	seen := map[string]bool{}
	for next := []string{strconv.Itoa(group)}; len(next) > 0; next = next[1:] {
		if seen[next[0]] {
			continue // ids may be given anew while this looks
		}
		seen[next[0]] = true
		if look("/proc/" + next[0]) {
			return found
		}
		next = append(next, children(next[0])...)
	}
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		if name := entry.Name(); name[0] >= '1' && name[0] <= '9' && !seen[name] && look("/proc/"+name) {
			break
		}
	}
	return found
}

// children are the processes that a process has started, where the kernel tells.
func children(process string) []string {
	var all []string
	lists, _ := filepath.Glob("/proc/" + process + "/task/*/children")
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		all = append(all, strings.Fields(string(text))...)
	}
	return all
}
