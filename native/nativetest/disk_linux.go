package nativetest

import (
	"fmt"
	"syscall"
	"testing"
)

// SmallDisk mounts an empty file system of the given size, in bytes, until the
// test ends, and returns its folder. It is a real one in memory, which needs root;
// else the test is skipped.
func SmallDisk(t testing.TB, size int) string {
	t.Helper()
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", size)); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		// Detached, so that a file that a failed test left open does not keep the folder.
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", folder, err)
		}
	})
	return folder
}

// MakeReadOnly takes the right to write from a folder of SmallDisk, for root too.
func MakeReadOnly(t testing.TB, folder string) {
	t.Helper()
	if err := syscall.Mount("", folder, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatalf("remount %s read-only: %v", folder, err)
	}
}
