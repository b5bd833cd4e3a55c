package look

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"fulmen/daemon/api"
	"fulmen/native"
)

// diskFull is how little free space counts as none: a program cannot even write
// its caches.
const diskFull = 4 << 20

// checkDirectory finds out whether a program can start in the directory and read
// it. It is opened and read, since macOS asks its privacy rules only then.
func checkDirectory(a *Answer, r Request) {
	dir := r.directory()
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		a.problem(api.ReasonDirectoryMissing, dir, "", dir+" is not a folder.")
		return
	}
	if err == nil {
		err = unix.Access(dir, unix.X_OK)
	}
	if err == nil {
		err = readable(dir)
	}
	if err != nil {
		denied(a, r, dir, api.ReasonDirectoryMissing, "the folder ", err)
		return
	}
	free, err := native.FreeBytes(dir)
	if err != nil {
		return
	}
	a.DiskFreeBytes = &free
	if free < diskFull {
		a.problem(api.ReasonDiskFull, dir, "", fmt.Sprintf("The disk with %s is full: %d bytes are free.", dir, free))
	}
}

func readable(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err = f.Readdirnames(1); errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// denied adds the problem of a path that could not be used: missing as the given
// reason, macOS's privacy rules, or the rights of the account.
func denied(a *Answer, r Request, path string, missing api.Reason, what string, err error) {
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR):
		a.problem(missing, path, "", sentence(fmt.Sprintf("%s%s is not there.", what, path)))
	case errors.Is(err, syscall.EPERM) && runtime.GOOS == "darwin":
		a.problem(api.ReasonMacOSPrivacy, path, privacyRemedy(r.Home, path),
			fmt.Sprintf("macOS does not let Fulmen read %s for %s.", path, r.Account))
	default:
		a.problem(api.ReasonPermissionDenied, path, fmt.Sprintf("Give %s the right to read it, or use another folder.", r.Account),
			sentence(fmt.Sprintf("%s%s cannot be read by %s: %s.", what, path, r.Account, plain(err))))
	}
}

// privacyRemedy names the pane of System Settings that rules over a path: macOS
// guards a few folders of each home and other volumes by themselves, and all
// else behind Full Disk Access.
func privacyRemedy(home, path string) string {
	pane := "Full Disk Access"
	for _, name := range []string{"Desktop", "Documents", "Downloads"} {
		if folder := filepath.Join(home, name); path == folder || strings.HasPrefix(path, folder+"/") {
			pane = "Files & Folders"
		}
	}
	if strings.HasPrefix(path, "/Volumes/") {
		pane = "Files & Folders"
	}
	return "Allow it in System Settings, Privacy & Security, " + pane + ", or use another folder."
}

// plain is an error without the call and the path, which the sentence has.
func plain(err error) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}
	return err.Error()
}

// sentence begins with a capital, unless with a path.
func sentence(text string) string {
	if strings.HasPrefix(text, "the ") {
		return "T" + text[1:]
	}
	return text
}
