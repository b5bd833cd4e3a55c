package linux

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"

	"golang.org/x/sys/unix"

	"fulmen/native"
)

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

func (hostName) ready(revents int16, report announce) error {
	if revents&unix.POLLNVAL != 0 {
		return unix.EBADF
	}
	report(native.AreaIdentity, "hostname.changed", "")
	return nil
}

// machineInfo hears of changes of /etc/machine-info, where the pretty name is.
// The folder is watched and not the file, which may not exist yet and is
// replaced when it is written.
type machineInfo struct{ descriptor }

func openMachineInfo(etc string) ([]listener, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, refused(native.AreaIdentity, "inotify", err)
	}
	const changes = unix.IN_CLOSE_WRITE | unix.IN_MOVED_TO | unix.IN_MOVED_FROM | unix.IN_DELETE
	if _, err := unix.InotifyAddWatch(fd, etc, changes|unix.IN_ONLYDIR); err != nil {
		return nil, errors.Join(refused(native.AreaIdentity, "inotify", err), unix.Close(fd))
	}
	return []listener{machineInfo{descriptor(fd)}}, nil
}

func (machineInfo) interest() int16 { return unix.POLLIN }

func (m machineInfo) ready(_ int16, report announce) error {
	var names []string
	buffer := make([]byte, 4096)
	for {
		n, err := unix.Read(int(m.descriptor), buffer)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if errors.Is(err, unix.EAGAIN) {
			break
		}
		if err != nil {
			return err
		}
		names = append(names, parseInotify(buffer[:n])...)
	}
	// An event without a name is about the folder, or says that others were lost.
	if slices.Contains(names, "machine-info") || slices.Contains(names, "") {
		report(native.AreaIdentity, "inotify.changed", "machine-info")
	}
	return nil
}

// parseInotify gives the name of each event. An event is a header of 16 bytes
// (watch, mask, cookie, length of the name) and the name, padded with zeros.
func parseInotify(data []byte) []string {
	var names []string
	for len(data) >= unix.SizeofInotifyEvent {
		size := uint64(binary.NativeEndian.Uint32(data[12:]))
		data = data[unix.SizeofInotifyEvent:]
		if size > uint64(len(data)) {
			break
		}
		name, _, _ := bytes.Cut(data[:size], []byte{0})
		names = append(names, string(name))
		data = data[size:]
	}
	return names
}
