package linux

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// netlinkGroup is a netlink socket that is a member of multicast groups: the
// kernel puts one datagram into it for each thing that it announces.
type netlinkGroup struct {
	descriptor
	// trusted reports whether a datagram's sender is the kernel.
	trusted func(unix.Sockaddr) bool
	// buffer holds one datagram; one goroutine takes them.
	buffer []byte
}

// openNetlink joins groups, a mask, in the network namespace of the calling
// thread. bufferBytes is the size of the queue; 0 is the system's own.
func openNetlink(protocol int, groups uint32, bufferBytes int) (netlinkGroup, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, protocol)
	if err != nil {
		return netlinkGroup{}, err
	}
	err = unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: groups})
	if bufferBytes > 0 {
		err = errors.Join(err, unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, bufferBytes))
	}
	if err != nil {
		return netlinkGroup{}, errors.Join(err, unix.Close(fd))
	}
	return netlinkGroup{descriptor: descriptor(fd), trusted: fromKernel, buffer: make([]byte, dumpBuffer)}, nil
}

// fromKernel reports whether the sender is number 0. Any process with the
// privilege may send to the groups, and udevd does.
func fromKernel(from unix.Sockaddr) bool {
	sender, ok := from.(*unix.SockaddrNetlink)
	return ok && sender.Pid == 0
}

func (netlinkGroup) interest() int16 { return unix.POLLIN }

// file is the socket's.
func (n netlinkGroup) file() *os.File { return os.NewFile(uintptr(n.descriptor), "netlink") }

// mostDatagrams is how many are taken before the hints go out, so that a flood
// delays nobody; poll(2) says at once that there is more.
const mostDatagrams = 256

// take gives each of the kernel's datagrams in the queue, which is valid during
// the call only. It reports whether any was lost: the queue ran over, or one was
// larger than the kernel makes them.
func (n netlinkGroup) take(each func([]byte)) (lost bool, err error) {
	buffer := n.buffer
	for range mostDatagrams {
		size, from, err := unix.Recvfrom(int(n.descriptor), buffer, unix.MSG_TRUNC)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ENOBUFS):
			lost = true
			continue
		case errors.Is(err, unix.EAGAIN):
			return lost, nil
		case err != nil:
			return lost, err
		case !n.trusted(from):
			continue
		case size > len(buffer):
			lost = true
			continue
		}
		each(buffer[:size])
	}
	return lost, nil
}
