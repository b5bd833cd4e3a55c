package shim_test

import (
	"syscall"
	"testing"
)

// onDisk is how much of the disk a file takes.
func onDisk(t *testing.T, path string) int64 {
	t.Helper()
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st.Blocks * 512
}
