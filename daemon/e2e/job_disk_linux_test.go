package e2e

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// smallDisk mounts a file system of one MiB in which the account may write, or
// skips the test.
func (s *stage) smallDisk(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root mounts a file system")
	}
	folder := filepath.Join(s.Folder, "small")
	must(t, "a folder", os.MkdirAll(folder, 0o755))
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=1m,mode=777"); err != nil {
		t.Skipf("nothing is mounted here: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(folder, syscall.MNT_DETACH) })
	return folder
}
