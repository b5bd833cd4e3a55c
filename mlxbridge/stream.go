package mlxbridge

/*
#include "fulmen_mlx.h"
*/
import "C"

import "runtime"

// Stream is a queue of work on one device. Its work is done in order; work on
// different streams may overlap. It is used by one goroutine at a time, on
// whatever thread that runs.
//
// MLX keeps the queue, and for CPUs its thread, until the process ends, so a
// process makes a few streams and keeps them.
type Stream struct {
	h      *C.fmlx_stream
	device Device
}

// NewStream makes a stream; ErrUnsupported if there is no such device.
func NewStream(d Device) (*Stream, error) {
	var h *C.fmlx_stream
	var text *C.char
	if rc := C.fmlx_stream_new(&h, &text, d.Type.code(), C.int(d.Index)); rc != C.FMLX_OK {
		return nil, failure("new_stream", rc, text)
	}
	s := &Stream{h: h, device: d}
	runtime.AddCleanup(s, func(h *C.fmlx_stream) { C.fmlx_stream_free(h) }, h)
	return s, nil
}

// Device is where the stream's work is done.
func (s *Stream) Device() Device { return s.device }

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
