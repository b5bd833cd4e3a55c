package mlxbridge

/*
#include <fulmen_mlx.h>
*/
import "C"

import (
	"fmt"
	"runtime"
)

// DeviceType is "cpu" or "gpu".
type DeviceType string

// The device types.
const (
	CPU DeviceType = "cpu"
	GPU DeviceType = "gpu"
)

// code is the C interface's number for it, -1 if there is none.
func (t DeviceType) code() C.int {
	switch t {
	case CPU:
		return C.FMLX_CPU
	case GPU:
		return C.FMLX_GPU
	}
	return -1
}

// Device is one of the machine's devices.
type Device struct {
	Type  DeviceType
	Index int // from 0
}

// String is like "gpu:0".
func (d Device) String() string { return fmt.Sprintf("%s:%d", d.Type, d.Index) }

// Devices lists what MLX can compute on here, CPUs first.
func Devices() ([]Device, error) {
	var list []Device
	for _, t := range []DeviceType{CPU, GPU} {
		var count C.int
		var text *C.char
		if rc := C.fmlx_device_count(&count, &text, t.code()); rc != C.FMLX_OK {
			return nil, failure("devices", rc, text)
		}
		for i := range int(count) {
			list = append(list, Device{t, i})
		}
	}
	return list, nil
}

// DefaultDevice is the device that MLX would choose: the first GPU, if any.
func DefaultDevice() (Device, error) {
	var device, index C.int
	var text *C.char
	if rc := C.fmlx_device_default(&device, &index, &text); rc != C.FMLX_OK {
		return Device{}, failure("default_device", rc, text)
	}
	if device == C.FMLX_GPU {
		return Device{GPU, int(index)}, nil
	}
	return Device{CPU, int(index)}, nil
}

// DeviceInfo is what is known of a device. A nil number is unknown.
type DeviceInfo struct {
	Device
	// Name is the maker's: "Apple M3 Ultra".
	Name string
	// Architecture is MLX's: "applegpu_g15d", "x86_64".
	Architecture string
	// MemoryBytes is the memory the device can address; the physical memory for
	// CPUs and unified memory.
	MemoryBytes *uint64
	// FreeMemoryBytes is what of it is free now. CUDA only.
	FreeMemoryBytes *uint64
	// MaxBufferBytes is the largest single buffer. Metal only.
	MaxBufferBytes *uint64
	// WorkingSetBytes is the recommended limit for all buffers together. Metal
	// only.
	WorkingSetBytes *uint64
}

// Info describes a device; ErrUnsupported if there is no such device.
func Info(d Device) (DeviceInfo, error) {
	var out C.fmlx_device_info
	var text *C.char
	if rc := C.fmlx_device_query(&out, &text, d.Type.code(), C.int(d.Index)); rc != C.FMLX_OK {
		return DeviceInfo{}, failure("device_info", rc, text)
	}
	number := func(mask C.uint32_t, value C.uint64_t) *uint64 {
		if out.known&mask == 0 {
			return nil
		}
		v := uint64(value)
		return &v
	}
	return DeviceInfo{
		Device:          d,
		Name:            C.GoString(&out.name[0]),
		Architecture:    C.GoString(&out.architecture[0]),
		MemoryBytes:     number(C.FMLX_KNOWN_MEMORY, out.memory_bytes),
		FreeMemoryBytes: number(C.FMLX_KNOWN_FREE, out.free_bytes),
		MaxBufferBytes:  number(C.FMLX_KNOWN_BUFFER, out.max_buffer_bytes),
		WorkingSetBytes: number(C.FMLX_KNOWN_WORKING_SET, out.working_set_bytes),
	}, nil
}

// Stream is a queue of work on one device. Its work is done in order; work on
// different streams may overlap. It is used by one goroutine at a time, on
// whatever thread that runs.
//
// MLX keeps the queue, and for CPUs its thread, until the process ends, so a
// process makes a few streams and keeps them.
type Stream struct {
	h *C.fmlx_stream
}

// NewStream makes a stream; ErrUnsupported if there is no such device.
func NewStream(d Device) (*Stream, error) {
	var h *C.fmlx_stream
	var text *C.char
	if rc := C.fmlx_stream_new(&h, &text, d.Type.code(), C.int(d.Index)); rc != C.FMLX_OK {
		return nil, failure("new_stream", rc, text)
	}
	s := &Stream{h: h}
	runtime.AddCleanup(s, func(h *C.fmlx_stream) { C.fmlx_stream_free(h) }, h)
	return s, nil
}

// Synchronize waits until the stream's work is done. It returns the first error
// of that work that nobody has been told yet.
func (s *Stream) Synchronize() error {
	var text *C.char
	rc := C.fmlx_stream_synchronize(&text, s.h)
	runtime.KeepAlive(s)
	if rc != C.FMLX_OK {
		return failure("synchronize", rc, text)
	}
	return nil
}
