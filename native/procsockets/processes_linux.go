package procsockets

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"fulmen/native"
)

// Processes are the processes of this machine. The zero value is ready.
type Processes struct{}

var _ native.Processes = Processes{}

// read gives the rows of the tables in /proc, of IPv4 and IPv6, that are wanted by their
// state and local port; a kernel may have no IPv6. The kernel gives a table in pieces, and
// finds its place by counting: where sockets come and go meanwhile, a row comes twice,
// which is mended here, or not at all, which nobody can see.
func read(wants func(state, port uint64) bool) ([]row, error) {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, err
	}
	return readFrom(proc, wants)
}

func readFrom(proc procfs.FS, wants func(state, port uint64) bool) ([]row, error) {
	four, err := proc.NetTCP()  //lint:ignore SA1019 for kernels that answer no questions over netlink
	six, err6 := proc.NetTCP6() //lint:ignore SA1019 the same
	if err = cmp.Or(err, err6); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []row
	for _, line := range append(four, six...) {
		if !wants(line.St, line.LocalPort) {
			continue
		}
		r := row{
			local: end(line.LocalAddr, line.LocalPort), remote: end(line.RemAddr, line.RemPort),
			listens: line.St == tcpListen, inode: strconv.FormatUint(line.Inode, 10), uid: uint32(line.UID),
		}
		if r.listens {
			r.waiting = int(line.RxQueue) // of a listening socket the queue to be read holds connections
		}
		all = append(all, r)
	}
	return once(all), nil
}

func end(ip net.IP, port uint64) netip.AddrPort {
	address, _ := netip.AddrFromSlice(ip)
	return netip.AddrPortFrom(address.Unmap(), uint16(port))
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
// before with one of the group's, which is what is asked most often, that costs a
// question to the kernel alone: no two sockets have one inode. The table in /proc
// holds the same, and takes milliseconds where the kernel's is large, full or not: it
// is for kernels that answer no questions.
func (Processes) Listens(group, port int, before native.Listening) (native.Listening, error) {
	rows, err := askListening(port)
	if err != nil {
		rows, err = read(func(state, local uint64) bool { return state == tcpListen && local == uint64(port) })
	}
	if err != nil || len(rows) == 0 {
		return native.Listening{}, err
	}
	var l native.Listening
	held := heldBefore(before, rows)
	if held == nil {
		held = holders(group, rows)
	}
	l.Sockets = names(rows, held)
	for _, r := range rows {
		switch {
		case !held[r.inode]:
			l.Others = true
		case !l.Group:
			l.Group, l.Room = true, r.room()
		default: // the kernel spreads connections over them
			l.Room = min(l.Room, r.room())
		}
	}
	return l, nil
}

// names are the inodes of sockets, in order, those of others with a mark.
func names(rows []row, held map[string]bool) string {
	var all []string
	for _, r := range rows {
		name := r.inode
		if !held[r.inode] {
			name += markOthers
		}
		all = append(all, name)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// markOthers is behind the inode of a socket that no process of the group has.
const markOthers = "!"

// heldBefore gives those of the sockets that the group had, where they are the same that
// listened before, else nil.
func heldBefore(before native.Listening, rows []row) map[string]bool {
	held := map[string]bool{}
	for _, name := range strings.Fields(before.Sockets) {
		inode, isOthers := strings.CutSuffix(name, markOthers)
		held[inode] = !isOthers
	}
	if !before.Group || names(rows, held) != before.Sockets {
		return nil
	}
	return held
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
	rows, err := askAt(int(at.Port()), 1<<tcpEstablished|1<<tcpCloseWait)
	if err != nil {
		rows, err = read(func(state, port uint64) bool {
			return port == uint64(at.Port()) && (state == tcpEstablished || state == tcpCloseWait)
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
	if err != nil || !found {
		return 0, "", cmp.Or(err, native.ErrNoOwner)
	}
	all, _ := procfs.AllProcs()
	for _, p := range all {
		open, _ := p.FileDescriptorTargets()
		if name, err := p.Comm(); err == nil && slices.Contains(open, "socket:["+r.inode+"]") {
			return p.PID, name, nil
		}
	}
	return 0, "", native.ErrNoOwner
}

// connected finds the near end of a connection that a process has open.
func connected(local, remote netip.AddrPort) (end row, found bool, err error) {
	local, remote = unmap(local), unmap(remote)
	rows, err := askConnected(local, remote)
	if err != nil {
		rows, err = read(func(_, port uint64) bool { return port == uint64(local.Port()) })
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
	look := func(p procfs.Proc) (complete bool) {
		stat, err := p.Stat()
		if err != nil || stat.PGRP != group && stat.Session != group {
			return false
		}
		open, _ := p.FileDescriptorTargets()
		for _, target := range open {
			if inode := wanted[target]; inode != "" {
				found[inode] = true
			}
		}
		return len(found) == len(wanted)
	}
	seen := map[int]bool{}
	for next := []int{group}; len(next) > 0; next = next[1:] {
		if seen[next[0]] {
			continue // ids may be given anew while this looks
		}
		seen[next[0]] = true
		if p, err := procfs.NewProc(next[0]); err == nil && look(p) {
			return found
		}
		next = append(next, children(next[0])...)
	}
	all, _ := procfs.AllProcs()
	for _, p := range all {
		if !seen[p.PID] && look(p) {
			break
		}
	}
	return found
}

// children are the processes that a process has started, where the kernel tells.
func children(process int) []int {
	var all []int
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", process))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, field := range strings.Fields(string(text)) {
			child, _ := strconv.Atoi(field)
			all = append(all, child)
		}
	}
	return all
}
