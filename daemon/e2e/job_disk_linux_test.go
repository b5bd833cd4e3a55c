package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"fulmen/daemon/e2e/testcluster"
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

// ontoSmallDisk has a daemon go on from a file system of so many bytes; false: none can be
// mounted here.
func (j *jobs) ontoSmallDisk(t *testing.T, n *testcluster.Node, bytes int) bool {
	t.Helper()
	n.End(syscall.SIGTERM)
	from := n.Home + ".before"
	must(t, "a copy", os.Rename(n.Home, from))
	must(t, "a folder", os.Mkdir(n.Home, 0o700))
	options := fmt.Sprintf("size=%d,mode=0700,uid=%d,gid=%d", bytes, j.Account.UID, j.Account.GID)
	if err := syscall.Mount("tmpfs", n.Home, "tmpfs", 0, options); err != nil {
		must(t, "undoing it", errors.Join(os.Remove(n.Home), os.Rename(from, n.Home)))
		must(t, "a new start", n.Boot(t.Context()))
		return false
	}
	t.Cleanup(func() { syscall.Unmount(n.Home, syscall.MNT_DETACH) })
	if out, err := exec.Command("cp", "-a", from+"/.", n.Home).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v\n%s", err, out)
	}
	must(t, "a new start", n.Boot(t.Context()))
	return true
}
