//go:build cgo && (darwin || (linux && darwinsim))

package darwin

/*
#cgo CFLAGS: -std=gnu11 -Wall -Wextra
#cgo linux CFLAGS: -I${SRCDIR}/apple -I${SRCDIR}/simfw/include -Werror -Wno-unknown-warning-option -Wno-stringop-overread
#cgo darwin LDFLAGS: -framework CoreFoundation -framework IOKit -framework SystemConfiguration
#include <stdlib.h>
#include "bridge.h"
#include "buffer.h"
#include "meters.h"
#include "rdma.h"
#include "registry.h"
#include "store.h"
#include "watch.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/cgo"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"fulmen/native"
)

// systemFrameworks calls the C files of this package. On a Mac enter is nil; over
// the simulated frameworks it says whose machine the calling thread is.
type systemFrameworks struct {
	enter  func() (leave func())
	gauges *gauges
}

// entered makes the calling thread one of the machine's.
func (f systemFrameworks) entered() (leave func()) {
	if f.enter == nil {
		return func() {}
	}
	return f.enter()
}

// failed is the error of a result, nil for success.
func failed(call string, result C.int) error {
	if result == C.FULMEN_OK {
		return nil
	}
	return &frameworkError{call, int(result)}
}

// read lets C fill a buffer and takes its bytes.
func (f systemFrameworks) read(call string, fill func(*C.fulmen_buffer) C.int) ([]byte, error) {
	defer f.entered()()
	var b C.fulmen_buffer
	defer C.fulmen_buffer_free(&b)
	if err := failed(call, fill(&b)); err != nil {
		return nil, err
	}
	if b.length > math.MaxInt32 {
		return nil, fmt.Errorf("%s: %w", call, errBuffer)
	}
	return C.GoBytes(unsafe.Pointer(b.bytes), C.int(b.length)), nil
}

// cText is a C string for the time of a call; Go's zero bytes end it early, which
// no name has.
func cText(s string) (c *C.char, free func()) {
	all, free := cTexts(s)
	return all[0], free
}

func cTexts(texts ...string) (c []*C.char, free func()) {
	for _, s := range texts {
		c = append(c, C.CString(s))
	}
	return c, func() {
		for _, own := range c {
			C.free(unsafe.Pointer(own))
		}
	}
}

func (f systemFrameworks) entries(call string, fill func(*C.fulmen_buffer) C.int) ([]entry, error) {
	b, err := f.read(call, fill)
	if err != nil {
		return nil, err
	}
	return entries(b)
}

func (f systemFrameworks) Thunderbolt() ([]entry, error) {
	return f.entries("the Thunderbolt registry", func(b *C.fulmen_buffer) C.int { return C.fulmen_registry_thunderbolt(b) })
}

func (f systemFrameworks) NetworkPorts() ([]entry, error) {
	return f.entries("the network ports in the registry", func(b *C.fulmen_buffer) C.int { return C.fulmen_registry_interfaces(b) })
}

func (f systemFrameworks) Places() ([]entry, error) {
	return f.entries("the device tree", func(b *C.fulmen_buffer) C.int { return C.fulmen_registry_places(b) })
}

func (f systemFrameworks) Services(class string, keys ...string) ([]entry, error) {
	c, free := cTexts(class, strings.Join(keys, "\n"))
	defer free()
	return f.entries(class, func(b *C.fulmen_buffer) C.int { return C.fulmen_registry_services(c[0], c[1], b) })
}

func (f systemFrameworks) At(path string, keys ...string) ([]entry, error) {
	c, free := cTexts(path, strings.Join(keys, "\n"))
	defer free()
	return f.entries(path, func(b *C.fulmen_buffer) C.int { return C.fulmen_registry_path(c[0], c[1], b) })
}

// readAs lets C fill a buffer and decodes what it has written.
func readAs[T any](f systemFrameworks, call string, fill func(*C.fulmen_buffer) C.int) (T, error) {
	b, err := f.read(call, fill)
	if err != nil {
		return *new(T), err
	}
	return decodeAs[T](b)
}

func (f systemFrameworks) Store() (map[string]any, error) {
	return readAs[map[string]any](f, "the dynamic store", func(b *C.fulmen_buffer) C.int { return C.fulmen_store_read(b) })
}

func (f systemFrameworks) PowerSettings() (map[string]any, error) {
	return readAs[map[string]any](f, "the power settings", func(b *C.fulmen_buffer) C.int { return C.fulmen_power_settings_read(b) })
}

func (f systemFrameworks) Stored() (map[string]any, error) {
	return readAs[map[string]any](f, "the stored configuration", func(b *C.fulmen_buffer) C.int { return C.fulmen_stored_read(b) })
}

func (f systemFrameworks) Interfaces() ([]any, error) {
	return readAs[[]any](f, "SCNetworkInterfaceCopyAll", func(b *C.fulmen_buffer) C.int { return C.fulmen_interfaces_read(b) })
}

func (f systemFrameworks) BridgeMembers(bridge string) ([]string, error) {
	name, free := cText(bridge)
	defer free()
	members, err := readAs[[]any](f, bridge, func(b *C.fulmen_buffer) C.int { return C.fulmen_bridge_read(name, b) })
	return listTexts(members), err
}

func (f systemFrameworks) Pages() (map[string]any, error) {
	return readAs[map[string]any](f, "host_statistics64", func(b *C.fulmen_buffer) C.int { return C.fulmen_pages_read(b) })
}

func (f systemFrameworks) Ticks() (map[string]any, error) {
	return readAs[map[string]any](f, "host_statistics", func(b *C.fulmen_buffer) C.int { return C.fulmen_ticks_read(b) })
}

func (f systemFrameworks) PowerSource() (map[string]any, error) {
	return readAs[map[string]any](f, "IOPSCopyPowerSourcesInfo", func(b *C.fulmen_buffer) C.int { return C.fulmen_power_source_read(b) })
}

// ThermalPressure is the system's level.
func (f systemFrameworks) ThermalPressure() (uint64, error) {
	name, free := cText(C.FULMEN_THERMAL_PRESSURE)
	defer free()
	return f.state("the thermal pressure level", name)
}

// LowPower is the state of low-power mode, 0 also where there is none.
func (f systemFrameworks) LowPower() (uint64, error) {
	name, free := cText(C.FULMEN_LOW_POWER)
	defer free()
	return f.state("the state of low-power mode", name)
}

// state takes a registration with libnotify for the time of one reading.
func (f systemFrameworks) state(call string, name *C.char) (uint64, error) {
	defer f.entered()()
	var descriptor, token C.int
	if err := failed(call, C.fulmen_state_open(name, &descriptor, &token)); err != nil {
		return 0, err
	}
	closeDescriptor(int(descriptor))
	defer C.fulmen_state_close(token)
	var state C.uint64_t
	err := failed(call, C.fulmen_state_read(token, &state))
	return uint64(state), err
}

// assert holds idle sleep off.
func (f systemFrameworks) assert(reason string) (release func() error, err error) {
	defer f.entered()()
	c, free := cText(strings.ReplaceAll(reason, "\x00", ""))
	defer free()
	var assertion C.uint32_t
	if err := failed("IOPMAssertionCreateWithName", C.fulmen_assertion_take(c, &assertion)); err != nil {
		return nil, err
	}
	return func() error {
		defer f.entered()()
		return failed("IOPMAssertionRelease", C.fulmen_assertion_release(assertion))
	}, nil
}

var _ frameworks = systemFrameworks{}
var _ native.Power = (*power)(nil)

// newSystemMachine is a machine whose facts C reads. Root may change its network.
func newSystemMachine(f systemFrameworks, root bool, m *machine) *machine {
	f.gauges = &gauges{}
	m.frameworks, m.meters = f, f
	if m.verbs == nil {
		m.verbs = f
	}
	m.connect = f.connect
	m.actions = &actions{machine: m, editor: f, root: root}
	return newMachine(m, f.open)
}

// systemPlatform is the machine as a platform, as far as C reaches.
func (m *machine) systemPlatform() native.Platform {
	f := m.frameworks.(systemFrameworks)
	return m.platform(f.assert, f.closeGauges)
}

// Devices lists the RDMA devices.
func (f systemFrameworks) Devices() ([]any, error) {
	b, err := f.askVerbs()
	if err != nil {
		return nil, err
	}
	return decodeAs[[]any](b)
}

// Last asks: what it costs is this process's own.
func (f systemFrameworks) Last() ([]any, error) { return f.Devices() }

func (f systemFrameworks) askVerbs() ([]byte, error) {
	return f.read("librdma", func(b *C.fulmen_buffer) C.int { return C.fulmen_rdma_read(b) })
}

// answerVerbs is what a child does: it asks and writes the answer for who has started it.
func (f systemFrameworks) answerVerbs(out io.Writer) error {
	b, err := f.askVerbs()
	text := append([]byte(verbsAnswered), b...)
	if failed, ok := errors.AsType[*frameworkError](err); ok {
		text = fmt.Appendf(nil, verbsFailed+"%d", failed.result)
	} else if err != nil {
		return err
	}
	_, err = out.Write(text)
	return err
}

// systemLine is an armed watch of the system, with the thread that runs its loop.
type systemLine struct {
	frameworks systemFrameworks
	receive    func(announcement)
	handle     cgo.Handle
	watch      *C.fulmen_watch
	running    sync.WaitGroup
	ready      chan struct{} // closed once everything is armed

	thermal *os.File
	token   C.int
}

// open arms everything and returns once it is armed.
func (f systemFrameworks) open(receive func(announcement)) (line, error) {
	l := &systemLine{frameworks: f, receive: receive, ready: make(chan struct{})}
	l.handle = cgo.NewHandle(l)
	l.watch = C.fulmen_watch_new(C.uintptr_t(l.handle))
	if l.watch == nil {
		l.handle.Delete()
		return nil, &frameworkError{"a watch", resultMemory}
	}
	l.running.Go(l.run)
	<-l.ready
	if err := l.armed(fromWatch); err != nil {
		l.running.Wait()
		l.free()
		return nil, err
	}
	l.openThermal()
	return l, nil
}

// run is the thread of the CFRunLoop. It is never unlocked, so that it ends with
// the goroutine and its loop with it.
func (l *systemLine) run() {
	runtime.LockOSThread()
	defer l.frameworks.entered()()
	C.fulmen_watch_run(l.watch)
}

func (l *systemLine) armed(source int) error {
	return failed(sourceNames[source], C.fulmen_watch_armed(l.watch, C.int(source)))
}

func (l *systemLine) allow(notice int64) error {
	defer l.frameworks.entered()()
	return failed("IOAllowPowerChange", C.fulmen_watch_allow(l.watch, C.intptr_t(notice)))
}

// openThermal listens to the thermal pressure, which is announced through a
// descriptor. Without it the state is read and not heard of.
func (l *systemLine) openThermal() {
	defer l.frameworks.entered()()
	name, freeName := cText(C.FULMEN_THERMAL_PRESSURE)
	defer freeName()
	var descriptor C.int
	if C.fulmen_state_open(name, &descriptor, &l.token) != C.FULMEN_OK {
		return
	}
	if err := syscall.SetNonblock(int(descriptor), true); err != nil {
		closeDescriptor(int(descriptor))
		C.fulmen_state_close(l.token)
		return
	}
	l.thermal = os.NewFile(uintptr(descriptor), "thermal pressure")
	file := l.thermal
	l.running.Go(func() {
		for token := make([]byte, 4); ; {
			if _, err := file.Read(token); err != nil {
				return // closed
			}
			l.receive(announcement{source: fromThermal, event: "changed"})
		}
	})
}

func (l *systemLine) close() error {
	C.fulmen_watch_stop(l.watch)
	var err error
	if l.thermal != nil {
		err = l.thermal.Close()
	}
	l.running.Wait()
	if l.thermal != nil {
		C.fulmen_state_close(l.token)
	}
	l.free()
	return err
}

func (l *systemLine) free() {
	C.fulmen_watch_free(l.watch)
	l.handle.Delete()
}

//export fulmenAnnounce
func fulmenAnnounce(handle C.uintptr_t, source C.int, event, subject *C.char, id, detail C.int64_t) {
	l := cgo.Handle(handle).Value().(*systemLine)
	if source == C.FULMEN_WATCH {
		close(l.ready)
		return
	}
	l.receive(announcement{int(source), C.GoString(event), C.GoString(subject), int64(id), int64(detail)})
}

// closeDescriptor closes what C has opened.
func closeDescriptor(descriptor int) { _ = syscall.Close(descriptor) }
