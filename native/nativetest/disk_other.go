//go:build !linux

package nativetest

import "testing"

// SmallDisk skips the test: there is no such disk here.
func SmallDisk(t testing.TB, size int) string {
	t.Helper()
	t.Skip("a small disk can be mounted on Linux only")
	return ""
}

// MakeReadOnly is for folders of SmallDisk.
func MakeReadOnly(t testing.TB, folder string) {
	t.Helper()
	t.Fatalf("%s is no small disk", folder)
}
