//go:build !linux

package e2e

import (
	"testing"

	"fulmen/daemon/e2e/testcluster"
)

func (s *stage) smallDisk(t *testing.T) string {
	t.Helper()
	t.Skip("a small file system is mounted on Linux only")
	return ""
}

func (j *jobs) ontoSmallDisk(*testing.T, *testcluster.Node, int) bool { return false }
