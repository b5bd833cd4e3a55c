package look

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

var (
	errFolder        = errors.New("it is a folder")
	errNotExecutable = errors.New("it may not be executed")
	errPlaceholder   = errors.New("it is only Apple's placeholder: the developer tools are not installed")
)

// executable says why a path cannot be executed: an error that matches ENOENT or
// ENOTDIR where nothing is there.
func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return errFolder
	case !info.Mode().IsRegular() || unix.Access(path, unix.X_OK) != nil:
		return errNotExecutable
	case runtime.GOOS == "darwin" && filepath.Dir(path) == "/usr/bin" && isPython(path) && !developerTools():
		return errPlaceholder
	}
	return nil
}

// missing tells an error about what is not there from one about what is and cannot be used.
func missing(err error) bool {
	return errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, errPlaceholder)
}

// developerTools reports whether /usr/bin/python3 of macOS leads anywhere. Where
// it does not, running it would put a dialog on the screen.
func developerTools() bool {
	for _, path := range []string{
		"/var/db/xcode_select_link", "/Library/Developer/CommandLineTools/usr/bin/python3", "/Applications/Xcode.app",
	} {
		if _, err := os.Stat(path); err == nil {
			return true
		}
	}
	return false
}

// search looks for a command by its names: by any of them in the environment's
// programs, then by each along PATH. The error is the one of the first file that
// is there and cannot be executed, else ENOENT. Relative folders in PATH do not count.
func (f *finder) search(names ...string) (string, error) {
	var found error
	look := func(folders []string, name string) string {
		for _, folder := range folders {
			if !filepath.IsAbs(folder) {
				continue
			}
			path := filepath.Join(folder, name)
			err := executable(path)
			if err == nil {
				return path
			}
			if found == nil && !missing(err) && !errors.Is(err, syscall.EACCES) && !errors.Is(err, errFolder) {
				found = &os.PathError{Op: "execute", Path: path, Err: err}
			}
		}
		return ""
	}
	for _, folders := range [][]string{{f.bin}, filepath.SplitList(f.variable("PATH"))} {
		for _, name := range names {
			if path := look(folders, name); path != "" {
				return path, nil
			}
		}
	}
	if found == nil {
		found = syscall.ENOENT
	}
	return "", found
}
