//go:build darwinsim && linux && cgo

package simfw

// #include "control.h"
import "C"

import "fmt"

// Fault is something that goes wrong so many times.
type Fault int

// The faults.
const (
	FaultInvalidate Fault = 0 // an iterator is invalid after its first element
	FaultVanish     Fault = 1 // a property is gone when it is read
	FaultGone       Fault = 2 // an entry is gone between match and read
	FaultMatch      Fault = 3 // matching fails
	FaultCommit     Fault = 4 // somebody else committed first
	FaultStore      Fault = 5 // configd does not answer
	FaultEvents     Fault = 6 // a stream of events does not start
)

// Arm lets a fault happen so many times; 0 disarms it.
func (m *Machine) Arm(f Fault, times int) { C.sim_arm_fault(m.c, C.int(f), C.int(times)) }

// PropertyChange is the message of a service whose properties changed.
const PropertyChange uint32 = 0xE0000130

// AddEntry publishes an entry below another; a parent of 0 is the root of the
// plane, the device tree's or the services'.
func (m *Machine) AddEntry(deviceTree bool, parent, id uint64, name, location, class string, properties map[string]any) error {
	n, freeName := text(name)
	defer freeName()
	l, freeLocation := text(location)
	defer freeLocation()
	c, freeClass := text(class)
	defer freeClass()
	b, size := bytes(properties)
	if C.sim_entry_add(m.c, C.bool(deviceTree), C.uint64_t(parent), C.uint64_t(id), n, l, c, b, size) != 0 {
		return fmt.Errorf("no entry %d", parent)
	}
	return nil
}

// RemoveEntry terminates an entry with all below it.
func (m *Machine) RemoveEntry(deviceTree bool, id uint64) error {
	if C.sim_entry_remove(m.c, C.bool(deviceTree), C.uint64_t(id)) != 0 {
		return fmt.Errorf("no entry %d", id)
	}
	return nil
}

// SetProperties replaces the properties of an entry and announces it by a
// message; 0 is silence.
func (m *Machine) SetProperties(deviceTree bool, id uint64, properties map[string]any, message uint32) error {
	b, size := bytes(properties)
	if C.sim_entry_set(m.c, C.bool(deviceTree), C.uint64_t(id), b, size, C.uint32_t(message)) != 0 {
		return fmt.Errorf("no entry %d", id)
	}
	return nil
}

// Loop hangs an entry below another a second time, as no registry should have it,
// until unloop is called.
func (m *Machine) Loop(parent, child uint64) (unloop func(), err error) {
	if C.sim_loop(m.c, C.uint64_t(parent), C.uint64_t(child)) != 0 {
		return nil, fmt.Errorf("no entry %d or %d", parent, child)
	}
	return func() { C.sim_unloop(m.c, C.uint64_t(parent)) }, nil
}

// SetStore sets a key of the dynamic store; nil removes it.
func (m *Machine) SetStore(key string, value any) {
	k, free := text(key)
	defer free()
	b, size := bytes(value)
	C.sim_store_set(m.c, k, b, size)
}

// HoldStored locks the stored configuration as a session would, until release is
// called.
func (m *Machine) HoldStored() (release func()) {
	C.sim_stored_hold(m.c)
	return func() { C.sim_stored_let(m.c) }
}

// SetStored sets a key of the stored configuration; nil removes it. Whoever reads first
// and then stores holds it meanwhile.
func (m *Machine) SetStored(key string, value any) {
	k, free := text(key)
	defer free()
	b, size := bytes(value)
	C.sim_stored_set(m.c, k, b, size)
}

// NotifyStored announces that the stored configuration was committed, or applied.
func (m *Machine) NotifyStored(applied bool) {
	C.sim_stored_tell(m.c, map[bool]C.uint32_t{false: 1, true: 2}[applied])
}

// SetInterfaces sets what SystemConfiguration knows of interfaces: maps of name,
// type and display_name.
func (m *Machine) SetInterfaces(interfaces []any) {
	b, size := bytes(interfaces)
	C.sim_interfaces_set(m.c, b, size)
}

// SetBridge sets the members that a bridge has in the kernel; nil removes it.
func (m *Machine) SetBridge(name string, members []any) {
	n, free := text(name)
	defer free()
	b, size := bytes(orNil(members != nil, members))
	C.sim_bridge_set(m.c, n, b, size)
}

// PowerMessage sends a message of the power management's root.
func (m *Machine) PowerMessage(message uint32, notice int64) {
	C.sim_power_message(m.c, C.uint32_t(message), C.intptr_t(notice))
}

// SetPowerSource sets what the machine runs on, as a map of "type" and "sources".
func (m *Machine) SetPowerSource(value map[string]any) {
	b, size := bytes(orNil(value != nil, value))
	C.sim_power_source_set(m.c, b, size)
}

// SetPressure announces a level of memory pressure: 1, 2 or 4.
func (m *Machine) SetPressure(level int) { C.sim_pressure_set(m.c, C.uintptr_t(level)) }

// Flags of an event about folders; all but the last say that more may have changed.
const (
	EventsLost    uint32 = 0x1 // everything below has to be looked at
	EventsDropped uint32 = 0x1 | 0x4
	EventsWrapped uint32 = 0x8
	RootChanged   uint32 = 0x20
	Mounted       uint32 = 0x40
	ItemIsDir     uint32 = 0x20000 // which says nothing more
)

// FolderChanged notes an event in the streams of whoever follows a folder, which gather
// it: the path of the event is where as the system writes it.
func (m *Machine) FolderChanged(where, path string, flags uint32) {
	w, freeWhere := text(where)
	defer freeWhere()
	p, freePath := text(path)
	defer freePath()
	C.sim_folder_changed(m.c, w, p, C.uint32_t(flags))
}

// DeliverFolders is the latency of all streams being over.
func (m *Machine) DeliverFolders() { C.sim_folders_deliver(m.c) }

// Notify sets the state of a name of libnotify and announces it.
func (m *Machine) Notify(name string, state uint64) {
	n, free := text(name)
	defer free()
	C.sim_notify_post(m.c, n, C.uint64_t(state))
}

// SetValue sets what else C asks of the system, by name; nil removes it.
func (m *Machine) SetValue(name string, value any) {
	n, free := text(name)
	defer free()
	b, size := bytes(value)
	C.sim_value_set(m.c, n, b, size)
}

// SetMissing makes a symbol one that does not resolve.
func (m *Machine) SetMissing(symbol string, missing bool) {
	n, free := text(symbol)
	defer free()
	C.sim_symbol_missing(m.c, n, C.bool(missing))
}

// orNil is a value, or nothing at all: an interface that holds a nil map is no nil.
func orNil(there bool, value any) any {
	if !there {
		return nil
	}
	return value
}
