package mac

import (
	"errors"
	"path/filepath"
	"syscall"

	"fulmen/daemon/api"
)

// needsAdministrator reports whether the place of the app can be filled only with
// an administrator's rights: another account's copy lies there, as root's does
// once an app was made the system's, or this account may not write beside it.
func needsAdministrator(to string, uid uint32, mayWrite bool, examine func(path string) (owned, error)) bool {
	old, err := examine(to)
	return !mayWrite || err == nil && old.uid != uid
}

// replaceCommand puts an app into a place as root's alone, in words of sh. The copy
// is made in a folder beside the place that nobody else can look into, and renamed,
// so that there is never half an app; where that fails the old one comes back. A
// daemon that runs from the old one goes on, and says that it was replaced. The mark
// of what was downloaded is taken off, as the Finder does for what a person moves.
func replaceCommand(from, to string) string {
	q := shellQuoted
	return "work=$(/usr/bin/mktemp -d " + q(filepath.Join(filepath.Dir(to), ".Fulmen-XXXXXX")) + ") || exit 1; " +
		`trap '/bin/rm -rf "$work"' EXIT; new="$work/new.app"; old="$work/old.app"; ` +
		"/usr/bin/ditto " + q(from) + ` "$new" && { /usr/bin/xattr -dr com.apple.quarantine "$new" || true; } && ` +
		`/usr/sbin/chown -R root:wheel "$new" && /bin/chmod -R go-w "$new" && ` +
		"{ [ ! -e " + q(to) + " ] || /bin/mv " + q(to) + ` "$old"; } && ` +
		`{ /bin/mv "$new" ` + q(to) + ` || { [ ! -e "$old" ] || /bin/mv "$old" ` + q(to) + "; exit 1; }; }"
}

// replaceScript is AppleScript that runs it with the rights of an administrator.
func replaceScript(from, to string) string {
	return administratorScript(replaceCommand(from, to), "Fulmen moves into the Applications folder, and replaces the copy that is there.")
}

// notMoved is what to say where the app stays where it is, with what macOS said.
func notMoved(err error) *api.Error {
	system := ""
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		system = ": " + errno.Error()
	}
	return api.Errorf(api.ReasonNotInApplications, "", "Fulmen could not move itself into the Applications folder%s.", system).
		WithRemedy("Drag it there.")
}
