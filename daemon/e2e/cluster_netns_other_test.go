//go:build !linux

package e2e

import "testing"

// TestClusterOverNetworks needs hosts that share no network but those it makes.
func TestClusterOverNetworks(t *testing.T) {
	t.Skip("network namespaces are Linux's")
}
