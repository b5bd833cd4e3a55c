package linux

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"fulmen/native"
)

// kernelFiles is os.DirFS for files that the kernel makes up while they are read.
// They are small and never keep a reader waiting, so they are read with three
// system calls: os.File registers each with the poller first, which for a change
// of the network takes longer than everything else together.
type kernelFiles struct {
	fs.FS
	root string
}

// newKernelFiles shows a folder.
func newKernelFiles(root string) kernelFiles { return kernelFiles{os.DirFS(root), root} }

// firstRead fits nearly every such file whole.
const firstRead = 1 << 10

// ReadFile is fs.ReadFileFS's.
func (k kernelFiles) ReadFile(name string) ([]byte, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	path := filepath.Join(k.root, name)
	fd, err := again(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	data := make([]byte, 0, firstRead)
	for {
		n, err := again(func() (int, error) { return unix.Read(fd, data[len(data):cap(data)]) })
		if err != nil {
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		if n == 0 {
			return data, nil
		}
		if data = data[:len(data)+n]; len(data) == cap(data) {
			data = append(data, make([]byte, cap(data))...)[:len(data)]
		}
	}
}

// Stat is fs.StatFS's.
func (k kernelFiles) Stat(name string) (fs.FileInfo, error) { return fs.Stat(k.FS, name) }

// ReadDir is fs.ReadDirFS's.
func (k kernelFiles) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(k.FS, name) }

// ReadLink is fs.ReadLinkFS's.
func (k kernelFiles) ReadLink(name string) (string, error) { return fs.ReadLink(k.FS, name) }

// Lstat is fs.ReadLinkFS's.
func (k kernelFiles) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(k.FS, name) }

// again repeats a call that a signal interrupted.
func again(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// hostName hears of changes of the host name. The kernel wakes whoever polls
// the file for a priority event since Linux 3.3; the flag for an error is set
// with it and means nothing.
type hostName struct{ descriptor }

func openHostName(file string) ([]listener, error) {
	fd, err := unix.Open(file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, refused(native.AreaIdentity, "hostname", err)
	}
	return []listener{hostName{descriptor(fd)}}, nil
}

func (hostName) interest() int16 { return unix.POLLPRI }

func (hostName) ready(revents int16, say announce) error {
	if revents&unix.POLLNVAL != 0 {
		return unix.EBADF
	}
	say(native.AreaIdentity, "hostname.changed", "")
	return nil
}
