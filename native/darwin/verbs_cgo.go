//go:build cgo && (darwin || (linux && darwinsim))

package darwin

// #include "rdma.h"
import "C"

// Devices lists the RDMA devices.
func (f systemFrameworks) Devices() ([]any, error) {
	return readAs[[]any](f, "librdma", func(b *C.fulmen_buffer) C.int { return C.fulmen_rdma_read(b) })
}

// Energy reads nothing yet.
func (f systemFrameworks) Energy() ([]any, error) { return nil, errNoFrameworks }

// Sensors reads nothing yet.
func (f systemFrameworks) Sensors() (map[string]any, error) { return nil, errNoFrameworks }
