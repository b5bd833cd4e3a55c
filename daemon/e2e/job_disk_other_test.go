//go:build !linux

package e2e

import "testing"

func (s *stage) smallDisk(t *testing.T) string {
	t.Helper()
	t.Skip("a small file system is mounted on Linux only")
	return ""
}
