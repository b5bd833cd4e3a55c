package linux

import (
	"encoding/binary"
	"errors"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// dumpBuffer is above the 32 KiB that the kernel puts into one datagram.
	dumpBuffer = 64 << 10
	// dumpTries is how often a dump is asked for that changes while it is told.
	// The last answer is taken as it is: the changes come as hints too.
	dumpTries = 4
	// dumpSeconds is how long the kernel may take for one datagram. It answers
	// within the call that asks; this is for a kernel that does not.
	dumpSeconds = 2
)

// errInterrupted is a dump during which the table changed.
var errInterrupted = errors.New("the table changed meanwhile")

// dumps asks for the kernel's tables. Its buffers are used again: a new one a
// question is most of what reading the network leaves to collect.
type dumps struct{ buffers sync.Pool }

// tables asks for all links, addresses and default routes of the network
// namespace of the calling thread.
func (b *dumps) tables() (tables, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return tables{}, err
	}
	defer unix.Close(fd)
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: dumpSeconds}); err != nil {
		return tables{}, err
	}
	// With strict checks the kernel looks at the table that is asked for, and
	// not all tables are told; kernels before 4.20 tell all.
	_ = unix.SetsockoptInt(fd, unix.SOL_NETLINK, unix.NETLINK_GET_STRICT_CHK, 1)
	buffer, ok := b.buffers.Get().(*[]byte)
	if !ok {
		buffer = new(make([]byte, dumpBuffer))
	}
	defer b.buffers.Put(buffer)
	var out tables
	d := dumper{fd: fd, buffer: *buffer, into: &out}
	if err := d.ask(unix.RTM_GETLINK, make([]byte, unix.SizeofIfInfomsg)); err != nil {
		return tables{}, err
	}
	if err := d.ask(unix.RTM_GETADDR, make([]byte, unix.SizeofIfAddrmsg)); err != nil {
		return tables{}, err
	}
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		request := make([]byte, unix.SizeofRtMsg)
		request[0], request[rtTable] = family, unix.RT_TABLE_MAIN
		err := d.ask(unix.RTM_GETROUTE, request)
		// No table yet, or no such family in this kernel: no routes.
		if err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, unix.EAFNOSUPPORT) {
			return tables{}, err
		}
	}
	return out, nil
}

// dumper asks over one socket, one question after the other.
type dumper struct {
	fd       int
	buffer   []byte
	sequence uint32
	into     *tables
}

func (d *dumper) ask(kind uint16, body []byte) error {
	before := *d.into
	for try := 1; ; try++ {
		err := d.once(kind, body)
		if !errors.Is(err, errInterrupted) {
			return err
		}
		if try == dumpTries {
			return nil
		}
		*d.into = before
	}
}

// once sends the request and takes the answer to its end, interrupted or not.
func (d *dumper) once(kind uint16, body []byte) error {
	return d.exchange(kind, unix.NLM_F_REQUEST|unix.NLM_F_DUMP, body)
}

// exchange sends a message and takes what the kernel says to it.
func (d *dumper) exchange(kind, flags uint16, body []byte) error {
	d.sequence++
	request := make([]byte, unix.SizeofNlMsghdr, unix.SizeofNlMsghdr+len(body))
	binary.NativeEndian.PutUint32(request, uint32(unix.SizeofNlMsghdr+len(body)))
	binary.NativeEndian.PutUint16(request[4:], kind)
	binary.NativeEndian.PutUint16(request[6:], flags)
	binary.NativeEndian.PutUint32(request[8:], d.sequence)
	if err := unix.Sendto(d.fd, append(request, body...), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	interrupted := false
	for {
		messages, err := d.receive()
		if err != nil {
			return err
		}
		for _, m := range messages {
			if m.Header.Seq != d.sequence {
				continue
			}
			interrupted = interrupted || m.Header.Flags&unix.NLM_F_DUMP_INTR != 0
			switch m.Header.Type {
			case unix.NLMSG_DONE, unix.NLMSG_ERROR:
				if err := answerError(m.Data); err != nil {
					return err
				}
				if interrupted {
					return errInterrupted
				}
				return nil
			}
			d.into.add(m)
		}
	}
}

// receive takes one datagram of the kernel's.
func (d *dumper) receive() ([]syscall.NetlinkMessage, error) {
	for {
		n, from, err := unix.Recvfrom(d.fd, d.buffer, unix.MSG_TRUNC)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if sender, ok := from.(*unix.SockaddrNetlink); !ok || sender.Pid != 0 {
			continue
		}
		if n > len(d.buffer) {
			return nil, unix.EMSGSIZE
		}
		// The links' names and addresses are copied out while they are parsed.
		return syscall.ParseNetlinkMessage(d.buffer[:n])
	}
}

// answerError reads the number with which a dump ends: 0, or an error as a
// negative number.
func answerError(data []byte) error {
	if len(data) < 4 {
		return nil
	}
	if number := int32(binary.NativeEndian.Uint32(data)); number < 0 {
		return syscall.Errno(-number)
	}
	return nil
}
