package mac

import (
	"io/fs"
	"os"
	"path/filepath"
)

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
		filepath.Join(programs, "fulmend"), filepath.Join(programs, "fulmen-rank")}
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
	return administratorScript(b.ownCommand(""), "Fulmen's daemon runs as the system: nobody else shall be able to change "+filepath.Base(b.Path)+".")
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
