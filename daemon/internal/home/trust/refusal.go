package trust

import (
	"fmt"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"fulmen/daemon/api"
)

// refusal says what is wrong with a file on the way, and with which command root
// sets it right. The problem has a place for the file.
func (w *walk) refusal(f file, problem, command string) error {
	subject := "it"
	if f.path != w.path || f.kind() == unix.S_IFLNK {
		subject = kindOf(f) + " " + f.path
	}
	e := api.Errorf(api.ReasonInsecurePermissions, f.path, "%s is not used: %s (owner %s, mode %04o), and Fulmen runs as root.",
		w.path, fmt.Sprintf(problem, subject), owner(f.Uid), uint32(f.Mode)&0o7777)
	return e.WithRemedy("Make it root's alone: sudo " + repair(f, command))
}

// repair is the command. An app is set right as a whole: its parts belong to
// whoever dragged it to where it is.
func repair(f file, command string) string {
	path := f.path
	for above := path; above != "/" && above != "."; above = filepath.Dir(above) {
		if filepath.Ext(above) == ".app" {
			return fmt.Sprintf("chown -R root:wheel %q && sudo chmod -R go-w %q", above, above)
		}
	}
	if f.kind() == unix.S_IFLNK {
		command = strings.Replace(command, "chown", "chown -h", 1)
	}
	return fmt.Sprintf("%s %q", command, path)
}

func kindOf(f file) string {
	switch f.kind() {
	case unix.S_IFDIR:
		return "the folder"
	case unix.S_IFLNK:
		return "the link"
	}
	return "the file"
}

// owner is an account by name and number.
func owner(uid uint32) string {
	number := strconv.FormatUint(uint64(uid), 10)
	if account, err := user.LookupId(number); err == nil {
		return account.Username + ", uid " + number
	}
	return "uid " + number
}

func group(gid uint32) string {
	number := strconv.FormatUint(uint64(gid), 10)
	if g, err := user.LookupGroupId(number); err == nil {
		return g.Name
	}
	return number
}
