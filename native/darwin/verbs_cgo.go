//go:build cgo && (darwin || (linux && darwinsim))

package darwin

// #include "rdma.h"
import "C"

// Devices lists the RDMA devices.
func (f systemFrameworks) Devices() ([]any, error) {
	return readAs[[]any](f, "librdma", func(b *C.fulmen_buffer) C.int { return C.fulmen_rdma_read(b) })
}
