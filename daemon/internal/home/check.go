package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"fulmen/daemon/api"
)

const (
	groupWrite = 0o020
	otherWrite = 0o002
)

// Check refuses folders, and the configuration, that somebody other than root
// could change while the daemon is root. In user mode there is nobody to
// protect the user from, and everything passes. What is not there passes.
func (f Folders) Check() error {
	if f.Mode != api.ModeSystem {
		return nil
	}
	for _, path := range []string{f.Config, f.State, f.Logs, f.Runtime} {
		if err := checkOwned(path, 0); err != nil {
			return err
		}
	}
	return f.CheckFile(f.ConfigFile())
}

// CheckFile refuses a file that root is about to trust and others can change:
// it, the folder it lies in, and everything above.
func (f Folders) CheckFile(path string) error {
	if f.Mode != api.ModeSystem {
		return nil
	}
	return checkOwned(path, 0)
}

// checkOwned wants path to be uid's and writable by nobody else. What leads
// there must be uid's or root's, and not writable by everybody unless names in
// it are protected (the sticky bit); a group is let pass there, because macOS
// gives some of its own folders to one.
func checkOwned(path string, uid uint32) error {
	resolved, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return Explain(err, "examine", path)
	}
	if err := judge(resolved, uid, false); err != nil {
		return err
	}
	// A link is as safe as the folder that it lies in.
	for _, p := range []string{resolved, path} {
		for dir := filepath.Dir(p); ; dir = filepath.Dir(dir) {
			if err := judge(dir, uid, true); err != nil {
				return err
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return nil
}

// judge looks at one file or folder; above says that it only leads to the one
// in question.
func judge(path string, uid uint32, above bool) error {
	info, err := os.Stat(path)
	if err != nil {
		return Explain(err, "examine", path)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return insecure(path, "its owner cannot be read", "")
	}
	if stat.Uid != uid && stat.Uid != 0 {
		return insecure(path, fmt.Sprintf("it belongs to uid %d", stat.Uid), fmt.Sprintf("sudo chown %d %q", uid, path))
	}
	mode := info.Mode()
	switch {
	case above && mode.Perm()&otherWrite != 0 && mode&fs.ModeSticky == 0,
		!above && mode.Perm()&otherWrite != 0:
		return insecure(path, "everybody can write it", fmt.Sprintf("sudo chmod go-w %q", path))
	case !above && mode.Perm()&groupWrite != 0:
		return insecure(path, fmt.Sprintf("group %d can write it", stat.Gid), fmt.Sprintf("sudo chmod go-w %q", path))
	}
	return nil
}

func insecure(path, problem, command string) error {
	e := api.Errorf(api.ReasonInsecurePermissions, path, "%s is not used: %s, and Fulmen runs as root.", path, problem)
	e.Data.Remedy = ""
	if command != "" {
		e.Data.Remedy = "Make it root's alone: " + command
	}
	return e
}
