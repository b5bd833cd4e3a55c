package mlxbridge

/*
#include <fulmen_mlx.h>
*/
import "C"

// ActiveMemory is how many bytes of arrays MLX holds; cached buffers do not
// count.
func ActiveMemory() (uint64, error) {
	return bytesOf("active_memory", func(out *C.uint64_t, text **C.char) C.int { return C.fmlx_memory_active(out, text) })
}

// PeakMemory is the most bytes that were active since the start or since
// ResetPeakMemory.
func PeakMemory() (uint64, error) {
	return bytesOf("peak_memory", func(out *C.uint64_t, text **C.char) C.int { return C.fmlx_memory_peak(out, text) })
}

// CacheMemory is how many bytes of freed buffers MLX keeps for later arrays.
func CacheMemory() (uint64, error) {
	return bytesOf("cache_memory", func(out *C.uint64_t, text **C.char) C.int { return C.fmlx_memory_cache(out, text) })
}

// ResetPeakMemory sets PeakMemory to zero.
func ResetPeakMemory() error {
	var text *C.char
	if rc := C.fmlx_memory_reset_peak(&text); rc != C.FMLX_OK {
		return failure("reset_peak_memory", rc, text)
	}
	return nil
}

// ClearCache returns the cached buffers to the system.
func ClearCache() error {
	var text *C.char
	if rc := C.fmlx_memory_clear_cache(&text); rc != C.FMLX_OK {
		return failure("clear_cache", rc, text)
	}
	return nil
}

// SetMemoryLimit sets the limit in bytes that MLX tries to keep active memory
// under, and that no array may exceed here. It returns the previous limit.
func SetMemoryLimit(bytes uint64) (uint64, error) {
	return bytesOf("set_memory_limit", func(out *C.uint64_t, text **C.char) C.int {
		return C.fmlx_memory_set_limit(out, text, C.uint64_t(bytes))
	})
}

// bytesOf is the result of a call that gives a count of bytes.
func bytesOf(op string, call func(out *C.uint64_t, text **C.char) C.int) (uint64, error) {
	var out C.uint64_t
	var text *C.char
	if rc := call(&out, &text); rc != C.FMLX_OK {
		return 0, failure(op, rc, text)
	}
	return uint64(out), nil
}

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
