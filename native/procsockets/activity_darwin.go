//go:build darwin && cgo

package procsockets

/*
#include "activity_darwin.h"
#include "procsockets_darwin.h"
*/
import "C"

import (
	"net/netip"
	"syscall"
	"time"
	"unsafe"

	"fulmen/native"
)

// Activity is what the processes of the group or session have done so far. Of connections the
// system counts what the interfaces have carried over which they go.
func (Processes) Activity(group int) (native.Activity, error) {
	all, err := processes()
	if err != nil {
		return native.Activity{}, err
	}
	a := native.Activity{NetworkShared: true}
	isThere, addresses := false, map[netip.Addr]bool{}
	for _, pid := range all {
		if C.fulmen_in_group(C.int32_t(pid), C.int32_t(group)) == 0 {
			continue
		}
		var of C.fulmen_activity
		threads, err := list(64, func(out *C.fulmen_thread, room int) int {
			return int(C.fulmen_threads(C.int32_t(pid), out, C.int(room), &of))
		})
		if err != nil {
			continue // it has ended meanwhile
		}
		isThere = true
		for _, t := range threads {
			a.Threads = append(a.Threads, native.Thread{ID: uint64(pid)<<48 ^ uint64(t.id), User: time.Duration(t.user), System: time.Duration(t.system)})
		}
		a.FileBytes += uint64(of.file_bytes)
		a.Faults += uint64(of.faults)
		switch {
		case of.is_stopped != 0 && of.is_traced != 0:
			a.Halt = native.HaltTraced
		case of.is_stopped != 0:
			a.Halt = native.HaltStopped
		case of.waits != 0 && a.Halt == "":
			a.Halt = native.HaltUninterruptible
		}
		for _, s := range sockets(pid) {
			if at := address(s.is_v6, s.local, s.local_port).Addr(); s.listens == 0 && !at.IsLoopback() {
				addresses[at] = true
			}
		}
	}
	if !isThere {
		return native.Activity{}, syscall.ESRCH
	}
	carried := uint64(0)
	for at := range addresses {
		raw, isV6 := at.As16(), C.int(1)
		if at.Is4() {
			four := at.As4()
			isV6 = 0
			copy(raw[:], four[:])
		}
		carried += uint64(C.fulmen_interface_bytes((*C.uint8_t)(unsafe.Pointer(&raw[0])), isV6))
	}
	a.NetworkBytes = &carried
	return a, nil
}
