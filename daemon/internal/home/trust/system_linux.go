package trust

import "golang.org/x/sys/unix"

// openFolder opens a folder to look below it; reading it is not needed.
const openFolder = unix.O_PATH

const (
	// groupOfUsers is "users", in which some distributions put everybody.
	groupOfUsers = 100
	// firstPerson is the first number for people and their groups (login.defs).
	firstPerson = 1000
)

// isSystemGroup says that a group is one of the system's, whose members may do what
// root may: distributions give /var/log and /usr/local to such ones.
func isSystemGroup(gid uint32) bool { return gid < firstPerson && gid != groupOfUsers }
