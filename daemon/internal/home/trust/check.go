package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"golang.org/x/sys/unix"
)

// Check refuses a path (an absolute one) that somebody other than root could
// change, with api.ReasonInsecurePermissions, the owner, the mode and what to do.
// What it leads to must be root's and writable by nobody else; what leads there
// must be root's, and others may write there only where names are protected (the
// sticky bit) or where their group is one of the system's. A path that leads to
// nothing is an error that matches fs.ErrNotExist.
func Check(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("%s: %w: it does not begin with a slash", path, fs.ErrInvalid)
	}
	w := &walk{path: path}
	defer w.leave(0)
	return w.follow(path)
}

// CheckFolder is Check for a folder and for what lies directly in it. A folder
// that is not there passes.
func CheckFolder(path string) error {
	err := Check(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		if bad := Check(filepath.Join(path, e.Name())); bad != nil && !errors.Is(bad, fs.ErrNotExist) {
			return bad
		}
	}
	return err
}

// file is what is known of a file or folder.
type file struct {
	path string
	unix.Stat_t
}

func (f file) kind() uint32 { return uint32(f.Mode) & unix.S_IFMT }

func (f file) has(bit uint32) bool { return uint32(f.Mode)&bit != 0 }

// judge refuses what others can change; above says that it only leads to what is
// asked for.
func (w *walk) judge(f file, above bool) error {
	if problem, command := f.problem(runtime.GOOS, above); problem != "" {
		return w.refusal(f, problem, command)
	}
	return nil
}

// problem says what is wrong with a file of a system (as in runtime.GOOS), with a
// place for the file, and which command sets it right; empty where others cannot
// change it.
func (f file) problem(system string, above bool) (problem, command string) {
	if f.Uid != 0 {
		return "%s is not root's", "chown root"
	}
	if f.kind() == unix.S_IFLNK {
		return "", "" // its mode means nothing; who may replace it, the folder says
	}
	isProtected := above && f.has(unix.S_ISVTX)
	switch {
	case f.has(unix.S_IWOTH) && !isProtected:
		return "everybody can write %s", "chmod go-w"
	case f.has(unix.S_IWGRP) && !isProtected && !(above && isSystemGroup(system, f.Gid)):
		return "the group " + group(f.Gid) + " can write %s", "chmod go-w"
	}
	return "", ""
}

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
