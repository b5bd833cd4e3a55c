//go:build darwin && cgo

package procsockets

/*
#include "procsockets_darwin.h"
*/
import "C"

import (
	"maps"
	"net/netip"
	"slices"
	"syscall"
	"unsafe"

	"fulmen/native"
)

// Processes are the processes of this machine. The zero value is ready.
type Processes struct{}

var _ native.Processes = Processes{}

// Listens tells who listens at a port. Processes other than the group's are looked
// at only once one of the group listens: until then they change nothing.
func (Processes) Listens(group, port int, _ native.Listening) (native.Listening, error) {
	var l native.Listening
	all, err := processes()
	if err != nil {
		return l, err
	}
	// at gives the listeners at the port that a process has open.
	at := func(pid int32) (found []C.fulmen_socket) {
		for _, s := range sockets(pid) {
			if s.listens != 0 && int(s.local_port) == port {
				found = append(found, s)
			}
		}
		return found
	}
	var others []int32
	for _, pid := range all {
		if C.fulmen_in_group(C.int32_t(pid), C.int32_t(group)) == 0 {
			others = append(others, pid)
			continue
		}
		for _, s := range at(pid) {
			if room := max(0, int(s.room)); !l.Group || room < l.Room {
				l.Group, l.Room = true, room
			}
		}
	}
	if !l.Group {
		return l, nil
	}
	for _, pid := range others {
		l.Others = l.Others || len(at(pid)) > 0
	}
	return l, nil
}

// Holds reports whether a process of the group holds one end of a connection.
func (Processes) Holds(group int, local, remote netip.AddrPort) (bool, error) {
	all, err := processes()
	if err != nil {
		return false, err
	}
	for _, pid := range all {
		if C.fulmen_in_group(C.int32_t(pid), C.int32_t(group)) != 0 && hasOpen(pid, local, remote) {
			return true, nil
		}
	}
	return false, nil
}

// Owner is the uid of the account whose processes hold one end of a connection.
// All processes are looked at: another account's may hold it as well.
func (Processes) Owner(local, remote netip.AddrPort) (uint32, error) {
	all, err := processes()
	if err != nil {
		return 0, err
	}
	owner := int64(-1)
	for _, pid := range all {
		if !hasOpen(pid, local, remote) {
			continue
		}
		uid := int64(C.fulmen_uid(C.int32_t(pid)))
		if uid < 0 || owner >= 0 && uid != owner {
			return 0, native.ErrNoOwner
		}
		owner = uid
	}
	if owner < 0 {
		return 0, native.ErrNoOwner
	}
	return uint32(owner), nil
}

// Callers gives the far ends of the connections to a listener, as both ends tell: of
// one that was not accepted no process has the near end, and of one that its caller has
// closed nobody the far one.
func (Processes) Callers(at netip.AddrPort) ([]netip.AddrPort, error) {
	all, err := processes()
	seen := map[netip.AddrPort]bool{}
	for _, pid := range all {
		for _, s := range sockets(pid) {
			near, far := address(s.is_v6, s.local, s.local_port), address(s.is_v6, s.remote, s.remote_port)
			switch {
			case s.listens != 0:
			case near == at:
				seen[far] = true
			case far == at:
				seen[near] = true
			}
		}
	}
	return slices.Collect(maps.Keys(seen)), err
}

// Program is the process that holds one end of a connection.
func (Processes) Program(local, remote netip.AddrPort) (int, string, error) {
	all, err := processes()
	if err != nil {
		return 0, "", err
	}
	for _, pid := range all {
		var name [17]C.char
		if hasOpen(pid, local, remote) && C.fulmen_program(C.int32_t(pid), &name[0]) == 0 {
			return int(pid), C.GoString(&name[0]), nil
		}
	}
	return 0, "", native.ErrNoOwner
}

// hasOpen reports whether a process holds one end of a connection.
func hasOpen(pid int32, local, remote netip.AddrPort) bool {
	return slices.ContainsFunc(sockets(pid), func(s C.fulmen_socket) bool {
		return s.listens == 0 && address(s.is_v6, s.local, s.local_port) == unmapped(local) && address(s.is_v6, s.remote, s.remote_port) == unmapped(remote)
	})
}

func unmapped(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

func address(isV6 C.int32_t, raw [16]C.uint8_t, port C.int32_t) netip.AddrPort {
	bytes := *(*[16]byte)(unsafe.Pointer(&raw))
	a := netip.AddrFrom16(bytes).Unmap()
	if isV6 == 0 {
		a = netip.AddrFrom4([4]byte(bytes[:4]))
	}
	return netip.AddrPortFrom(a, uint16(port))
}

// processes lists the ids of all processes.
func processes() ([]int32, error) {
	return list(1024, func(out *int32, room int) int {
		return int(C.fulmen_processes((*C.int32_t)(out), C.int(room)))
	})
}

// sockets lists the TCP sockets of a process; none where it is gone, or not ours
// to look at.
func sockets(pid int32) []C.fulmen_socket {
	all, _ := list(64, func(out *C.fulmen_socket, room int) int {
		return int(C.fulmen_sockets(C.int32_t(pid), out, C.int(room)))
	})
	return all
}

// list has a buffer filled that is large enough.
func list[T any](room int, fill func(out *T, room int) int) ([]T, error) {
	for {
		buffer := make([]T, room)
		switch n := fill(&buffer[0], room); {
		case n < 0:
			return nil, syscall.Errno(-n)
		case n <= room:
			return buffer[:n], nil
		default:
			room = n + n/4 // more may come meanwhile
		}
	}
}
