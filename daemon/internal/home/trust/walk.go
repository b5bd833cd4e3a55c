package trust

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// mostLinks is how many symbolic links one path may have, as in Linux.
const mostLinks = 40

// walk is the way from the root folder to where a path leads.
type walk struct {
	path    string   // as it was asked for
	folders []folder // opened, from the root folder to where it stands
	links   int
}

// folder is one that is open.
type folder struct {
	file
	descriptor int
}

// follow walks a path to its end, and judges everything on the way.
func (w *walk) follow(path string) error {
	if err := w.enter(unix.AT_FDCWD, "/", file{path: "/"}); err != nil {
		return err
	}
	names := strings.Split(path, "/")
	for len(names) > 0 {
		name := names[0]
		names = names[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			w.leave(max(1, len(w.folders)-1))
			continue
		}
		here := w.folders[len(w.folders)-1]
		next := file{path: filepath.Join(here.path, name)}
		if err := unix.Fstatat(here.descriptor, name, &next.Stat_t, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return &fs.PathError{Op: "stat", Path: next.path, Err: err}
		}
		switch next.kind() {
		case unix.S_IFLNK:
			target, err := w.read(here, name, next)
			if err != nil {
				return err
			}
			if filepath.IsAbs(target) {
				w.leave(1)
			}
			names = append(strings.Split(target, "/"), names...)
		case unix.S_IFDIR:
			if err := w.enter(here.descriptor, name, next); err != nil {
				return err
			}
		default:
			if len(names) > 0 {
				return &fs.PathError{Op: "stat", Path: next.path, Err: unix.ENOTDIR}
			}
			return w.judge(next, false)
		}
	}
	return w.judge(w.folders[len(w.folders)-1].file, false)
}

// enter opens a folder and judges it as one that leads further. What was opened
// must be what was found.
func (w *walk) enter(below int, name string, found file) error {
	descriptor, err := unix.Openat(below, name, openFolder|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: found.path, Err: err}
	}
	opened := folder{file{path: found.path}, descriptor}
	w.folders = append(w.folders, opened)
	if err := unix.Fstat(descriptor, &opened.Stat_t); err != nil {
		return &fs.PathError{Op: "stat", Path: found.path, Err: err}
	}
	if found.Ino != 0 && (found.Ino != opened.Ino || found.Dev != opened.Dev) {
		return &fs.PathError{Op: "open", Path: found.path, Err: errors.New("it was replaced while it was examined")}
	}
	w.folders[len(w.folders)-1] = opened
	return w.judge(opened.file, true)
}

// read gives where a link leads.
func (w *walk) read(here folder, name string, link file) (string, error) {
	if w.links++; w.links > mostLinks {
		return "", &fs.PathError{Op: "readlink", Path: w.path, Err: unix.ELOOP}
	}
	if err := w.judge(link, true); err != nil {
		return "", err
	}
	target := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(here.descriptor, name, target)
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: link.path, Err: err}
	}
	return string(target[:n]), nil
}

// leave closes the folders behind the first ones.
func (w *walk) leave(keep int) {
	for len(w.folders) > keep {
		last := len(w.folders) - 1
		_ = unix.Close(w.folders[last].descriptor) // it was only looked at
		w.folders = w.folders[:last]
	}
}
