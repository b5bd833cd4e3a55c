//go:build darwinsim && linux && cgo

package simfw

/*
#cgo CFLAGS: -I${SRCDIR}/../apple -I${SRCDIR}/include -std=gnu11 -Wall -Wextra -Werror -Wno-unknown-warning-option -Wno-stringop-overread
#cgo LDFLAGS: -lpthread
#include <stdlib.h>
#include "control.h"
*/
import "C"

import (
	"runtime"
	"runtime/cgo"
	"sync"
	"unsafe"
)

// Machine is one simulated Mac's kernel and configd.
type Machine struct {
	c      *C.sim_machine
	handle cgo.Handle

	mu    sync.Mutex
	hooks Hooks
}

// Hooks are called when native/darwin has changed something, on its thread and
// without any lock held. Those left nil are not called.
type Hooks struct {
	// Applied: the stored configuration was applied.
	Applied func()
	// Allowed: the system may go on with the notice of that number.
	Allowed func(notice int64)
	// Assertion: idle sleep is held off under that number, or, negative, no more.
	Assertion func(id int64)
}

// New makes a machine with an empty registry and an empty configuration.
func New() *Machine {
	m := &Machine{}
	m.handle = cgo.NewHandle(m)
	m.c = C.sim_machine_new(C.uintptr_t(m.handle))
	return m
}

// Close frees the machine. Nothing may use it any more.
func (m *Machine) Close() {
	m.SetPowerSource(nil) // sweeps listeners that have been released
	C.sim_machine_free(m.c)
	m.handle.Delete()
}

// SetHooks replaces the hooks.
func (m *Machine) SetHooks(h Hooks) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hooks = h
}

// Enter makes the calling goroutine's thread the machine's own until leave is
// called, which the same goroutine does.
func (m *Machine) Enter() (leave func()) {
	runtime.LockOSThread()
	C.sim_enter(m.c)
	return func() {
		C.sim_enter(nil)
		runtime.UnlockOSThread()
	}
}

// Live is how many objects of all machines are allocated and not yet released.
func Live() int { return int(C.sim_live()) }

// Misuses is how often something was used that is not there, since the start.
func Misuses() int { return int(C.sim_misuses()) }

//export simHook
func simHook(handle C.uintptr_t, hook C.int, value C.int64_t) {
	m := cgo.Handle(handle).Value().(*Machine)
	m.mu.Lock()
	h := m.hooks
	m.mu.Unlock()
	switch {
	case hook == 0 && h.Applied != nil:
		h.Applied()
	case hook == 1 && h.Allowed != nil:
		h.Allowed(int64(value))
	case hook == 2 && h.Assertion != nil:
		h.Assertion(int64(value))
	}
}

// text gives C a string for the time of a call.
func text(s string) (c *C.char, free func()) {
	c = C.CString(s)
	return c, func() { C.free(unsafe.Pointer(c)) }
}

// bytes gives C a value; nil is no value.
func bytes(v any) (*C.uint8_t, C.size_t) {
	if v == nil {
		return nil, 0
	}
	encoded := Encode(v)
	return (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(encoded))), C.size_t(len(encoded))
}
