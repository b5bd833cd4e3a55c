//go:build !linux

package trust

import "golang.org/x/sys/unix"

// openFolder opens a folder to look below it. macOS has no way to do that without
// reading it, which root may.
const openFolder = unix.O_RDONLY

const (
	groupWheel = 0
	// groupAdmin is that of the administrators, to whom /Applications belongs.
	groupAdmin = 80
)

// isSystemGroup says that a group is one of the system's, whose members may do what
// root may. "staff" holds all people of a Mac and is none.
func isSystemGroup(gid uint32) bool { return gid == groupWheel || gid == groupAdmin }
