package mlxbridge

/*
#include "fulmen_mlx.h"
*/
import "C"

// AbortForTest lets the stream's own thread inside MLX end the process, shortly
// after it returns, with the signal and the words on stderr that a fault there
// has. It is for tests of what stands around a worker.
func AbortForTest(s *Stream) error {
	var text *C.char
	if rc := C.fmlx_test_abort(&text, s.h); rc != C.FMLX_OK {
		return failure("abort", rc, text)
	}
	return nil
}

// liveHandles counts the handles of arrays, streams and groups in this process.
func liveHandles() int { return int(C.fmlx_live_handles()) }

// streamCount counts the streams that MLX has made in this process.
func streamCount() (int, error) {
	var count C.int
	var text *C.char
	if rc := C.fmlx_stream_count(&count, &text); rc != C.FMLX_OK {
		return 0, failure("streams", rc, text)
	}
	return int(count), nil
}

// callNothing crosses into C and back.
func callNothing() { C.fmlx_test_nothing() }
