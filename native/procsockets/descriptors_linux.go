package procsockets

import (
	"slices"

	"golang.org/x/sys/unix"
)

// Go's own functions open files so that many can wait for them, and sort folders;
// here a program waits for the answer, to join its group.

// readFile reads the beginning of a small file of /proc.
func readFile(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	buffer := make([]byte, 4<<10)
	n, err := unix.Read(fd, buffer)
	return buffer[:max(n, 0)], err
}

// eachDescriptor says what the descriptors of a process are, until it is enough. The
// newest are first: a program is asked about what it has just opened.
func eachDescriptor(folder string, say func(target []byte) (enough bool)) {
	fd, err := unix.Open(folder, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	var names []string
	for buffer := make([]byte, 8<<10); ; {
		n, err := unix.ReadDirent(fd, buffer)
		if err != nil || n <= 0 {
			break
		}
		_, _, names = unix.ParseDirent(buffer[:n], -1, names)
	}
	var target [64]byte // one of a socket is shorter
	for _, name := range slices.Backward(names) {
		if n, err := unix.Readlinkat(fd, name, target[:]); err == nil && say(target[:n]) {
			return
		}
	}
}
