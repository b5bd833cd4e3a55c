package mlxbridge

import (
	"runtime/debug"
	"syscall"
	"testing"
)

// residentBytes is the most of the process that was in memory so far: macOS tells
// the present size through Mach calls only, and a leak raises the peak as well.
func residentBytes(t *testing.T) int64 {
	t.Helper()
	debug.FreeOSMemory()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return usage.Maxrss
}
