package gpu

// #include <unistd.h>
import "C"

// systemMemory is the machine's memory in bytes, 0 where the system does not
// say. It bounds buffers on devices of which MLX tells no limit, such as CPUs.
func systemMemory() uint64 {
	pages, size := C.sysconf(C._SC_PHYS_PAGES), C.sysconf(C._SC_PAGESIZE)
	if pages <= 0 || size <= 0 {
		return 0
	}
	return uint64(pages) * uint64(size)
}
