package mac

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"fulmen/daemon/api"
)

// applications is the folder from which macOS runs what an app brings along.
const applications = "/Applications"

// bundle is where the app lies.
type bundle struct {
	// Path is the .app folder; empty where the program is in none.
	Path string
}

// bundleOf is the bundle that a program lies in.
func bundleOf(executable string) bundle {
	contents := filepath.Dir(filepath.Dir(executable))
	app := filepath.Dir(contents)
	if filepath.Base(filepath.Dir(executable)) != "MacOS" || filepath.Base(contents) != "Contents" || filepath.Ext(app) != ".app" {
		return bundle{}
	}
	return bundle{app}
}

// isInstalled reports whether it lies where it may stay. An app that was opened
// where it was downloaded runs from a folder that macOS makes up each time.
func (b bundle) isInstalled() bool { return strings.HasPrefix(b.Path, applications+"/") }

// installed is where it belongs.
func (b bundle) installed() bundle { return bundle{filepath.Join(applications, api.BundleName)} }

// tool is the command line tool that it brings along.
func (b bundle) tool() string { return filepath.Join(b.Path, "Contents", "MacOS", "fulmen") }

// owned is whose a file is, as far as the daemon asks before root starts it.
type owned struct {
	uid  uint32
	mode fs.FileMode
}

// isSystems reports whether root alone can change it.
func (o owned) isSystems() bool { return o.uid == 0 && o.mode.Perm()&0o022 == 0 }

// daemonParts are what of the bundle the daemon starts, and the folders that lead there.
func (b bundle) daemonParts() []string {
	programs := filepath.Join(b.Path, "Contents", "MacOS")
	return []string{b.Path, filepath.Join(b.Path, "Contents"), programs,
		filepath.Join(programs, "fulmend"), filepath.Join(programs, "fulmen-shim"), filepath.Join(programs, "fulmen-rank")}
}

// isPersons reports whether others than root can change what the daemon starts:
// an app that was dragged to its place is the person's. What cannot be examined
// is not complained of; the daemon says so itself. An app elsewhere is moved first.
func (b bundle) isPersons(examine func(path string) (owned, error)) bool {
	if !b.isInstalled() {
		return false
	}
	for _, part := range b.daemonParts() {
		if o, err := examine(part); err == nil && !o.isSystems() {
			return true
		}
	}
	return false
}

// ownCommand makes the whole bundle root's alone, in words of sh. Neither tool
// follows links in a folder that it goes through.
func (b bundle) ownCommand(before string) string {
	return before + "/usr/sbin/chown -R root:wheel " + shellQuoted(b.Path) + " && " + before + "/bin/chmod -R go-w " + shellQuoted(b.Path)
}

// ownScript is AppleScript that runs it with the rights of an administrator.
func (b bundle) ownScript() string {
	return administratorScript(b.ownCommand(""), "Fulmen's daemon runs as root: nobody else may be able to change "+filepath.Base(b.Path)+".")
}

// byHand is what a person types in Terminal instead.
func (b bundle) byHand() string { return b.ownCommand("sudo ") }

// ownerOf examines a file, not what a link leads to.
func ownerOf(path string) (owned, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return owned{}, err
	}
	uid, err := uidOf(info)
	return owned{uid: uid, mode: info.Mode()}, err
}

// uidOf is whose a file is.
func uidOf(info fs.FileInfo) (uint32, error) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, errors.New("its owner is not known")
	}
	return s.Uid, nil
}
