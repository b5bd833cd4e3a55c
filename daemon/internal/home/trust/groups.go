package trust

import "slices"

const (
	// groupOfUsers is "users", in which some distributions of Linux put everybody.
	groupOfUsers = 100
	// firstPerson is the first number for people and their groups on Linux (login.defs).
	firstPerson = 1000
)

// macGroups are macOS's own groups that it gives folders to: wheel; daemon, whose
// members are root and system services, and to whom /private/var/run belongs; and
// admin, the administrators, to whom /Applications belongs. "staff" holds everybody
// who has an account and is none.
var macGroups = []uint32{0, 1, 80}

// isSystemGroup reports whether a group is one of the system's (as in runtime.GOOS),
// whose members may do what root may: distributions of Linux give /var/log and
// /usr/local to such ones.
func isSystemGroup(system string, gid uint32) bool {
	if system == "linux" {
		return gid < firstPerson && gid != groupOfUsers
	}
	return slices.Contains(macGroups, gid)
}
