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
*/
import "C"

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
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
	c = C.CString(s)
	return c, func() { C.free(unsafe.Pointer(c)) }
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
	c, freeClass := cText(class)
	defer freeClass()
	k, freeKeys := cText(strings.Join(keys, "\n"))
	defer freeKeys()
	return f.entries(class, func(b *C.fulmen_buffer) C.int { return C.fulmen_registry_services(c, k, b) })
}

func (f systemFrameworks) At(path string, keys ...string) ([]entry, error) {
	p, freePath := cText(path)
	defer freePath()
	k, freeKeys := cText(strings.Join(keys, "\n"))
	defer freeKeys()
	return f.entries(path, func(b *C.fulmen_buffer) C.int { return C.fulmen_registry_path(p, k, b) })
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
