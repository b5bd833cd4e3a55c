package life

// #include <unistd.h>
import "C"

// Exit ends the process at once with a status, running neither deferred calls
// nor C++ destructors. Destroying a group while its thread spins in a
// collective is a segmentation fault, and on macOS os.Exit runs destructors.
func Exit(status int) {
	C._exit(C.int(status))
}
