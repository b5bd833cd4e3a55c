//go:build !linux

package trust

import "golang.org/x/sys/unix"

// openFolder opens a folder to look below it. macOS has no way to do that without
// reading it, which root may.
const openFolder = unix.O_RDONLY
