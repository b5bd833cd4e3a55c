package procsockets

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// The kernel answers questions about sockets over netlink (sock_diag(7)): it finds
// the sockets that listen, or the one of two addresses, without walking through
// its whole table.
const (
	diagByFamily   = 20 // SOCK_DIAG_BY_FAMILY
	tcpEstablished = 1  // the kernel's numbers of states
	tcpCloseWait   = 8  // the far end has closed
	tcpListen      = 10 // LISTEN
	diagIDBytes    = 48 // struct inet_diag_sockid
	diagAskBytes   = 8 + diagIDBytes
	diagReplyBytes = 4 + diagIDBytes + 20
	diagWithinS    = 1 // the kernel answers at once
)

// askListening lists the sockets that listen at a port.
func askListening(port int) ([]row, error) {
	all, err := askAt(port, 1<<tcpListen)
	return slices.DeleteFunc(all, func(r row) bool { return !r.listens }), err
}

// askAt lists the sockets at a port that are in one of some states.
func askAt(port int, states uint32) ([]row, error) {
	kernel, err := openDiag()
	if err != nil {
		return nil, err
	}
	defer kernel.close()
	var all []row
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		question := make([]byte, diagAskBytes)
		question[0], question[1] = family, unix.IPPROTO_TCP
		binary.NativeEndian.PutUint32(question[4:], states)
		binary.BigEndian.PutUint16(question[8:], uint16(port))
		rows, err := kernel.ask(unix.NLM_F_DUMP, question)
		if errors.Is(err, unix.ENOENT) && family == unix.AF_INET6 {
			continue // a kernel without IPv6
		}
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if int(r.local.Port()) == port {
				all = append(all, r)
			}
		}
	}
	return all, nil
}

// askConnected finds the near end of a connection.
func askConnected(local, remote netip.AddrPort) ([]row, error) {
	question := make([]byte, diagAskBytes)
	question[0], question[1] = unix.AF_INET6, unix.IPPROTO_TCP
	if local.Addr().Is4() {
		question[0] = unix.AF_INET
	}
	binary.NativeEndian.PutUint32(question[4:], ^uint32(0))
	binary.BigEndian.PutUint16(question[8:], local.Port())
	binary.BigEndian.PutUint16(question[10:], remote.Port())
	copy(question[12:28], local.Addr().AsSlice())
	copy(question[28:44], remote.Addr().AsSlice())
	for i := 48; i < diagAskBytes; i++ {
		question[i] = 0xff // any cookie
	}
	kernel, err := openDiag()
	if err != nil {
		return nil, err
	}
	defer kernel.close()
	rows, err := kernel.ask(0, question)
	if errors.Is(err, unix.ENOENT) {
		return nil, nil
	}
	return rows, err
}

// diag is a socket on which the kernel is asked.
type diag int

func openDiag() (diag, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_INET_DIAG)
	if err != nil {
		return -1, err
	}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: diagWithinS}); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return diag(fd), nil
}

func (d diag) close() { _ = unix.Close(int(d)) }

// ask puts one question to the kernel, and reads all of the answer.
func (d diag) ask(flags uint16, question []byte) ([]row, error) {
	fd := int(d)
	message := make([]byte, unix.NLMSG_HDRLEN, unix.NLMSG_HDRLEN+len(question))
	binary.NativeEndian.PutUint32(message, uint32(cap(message)))
	binary.NativeEndian.PutUint16(message[4:], diagByFamily)
	binary.NativeEndian.PutUint16(message[6:], unix.NLM_F_REQUEST|flags)
	if err := unix.Sendto(fd, append(message, question...), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, err
	}
	var all []row
	buffer := make([]byte, 32<<10)
	for {
		n, _, err := unix.Recvfrom(fd, buffer, 0)
		if err != nil {
			return nil, err
		}
		rows, over, err := parseDiag(buffer[:n])
		all = append(all, rows...)
		if err != nil || over || flags&unix.NLM_F_DUMP == 0 {
			return all, err
		}
	}
}

// parseDiag reads one datagram of answers, and whether it was the last.
func parseDiag(data []byte) (rows []row, over bool, err error) {
	for len(data) >= unix.NLMSG_HDRLEN {
		size := int(binary.NativeEndian.Uint32(data))
		kind := binary.NativeEndian.Uint16(data[4:])
		if size < unix.NLMSG_HDRLEN || size > len(data) {
			return rows, true, errors.New("the kernel's answer is cut off")
		}
		body := data[unix.NLMSG_HDRLEN:size]
		switch {
		case kind == unix.NLMSG_DONE:
			return rows, true, nil
		case kind == unix.NLMSG_ERROR:
			if len(body) < 4 {
				return rows, true, errors.New("the kernel's answer is cut off")
			}
			if number := int32(binary.NativeEndian.Uint32(body)); number != 0 {
				return rows, true, unix.Errno(-number)
			}
		case kind == diagByFamily:
			r, err := parseDiagReply(body)
			if err != nil {
				return rows, true, err
			}
			rows = append(rows, r)
		}
		data = data[min((size+3)&^3, len(data)):]
	}
	return rows, false, nil
}

func parseDiagReply(body []byte) (row, error) {
	if len(body) < diagReplyBytes {
		return row{}, errors.New("the kernel's answer is cut off")
	}
	address := func(at int, port uint16) netip.AddrPort {
		if body[0] == unix.AF_INET {
			return netip.AddrPortFrom(netip.AddrFrom4([4]byte(body[at:at+4])), port)
		}
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(body[at:at+16])).Unmap(), port)
	}
	if body[0] != unix.AF_INET && body[0] != unix.AF_INET6 {
		return row{}, fmt.Errorf("the kernel's answer is of family %d", body[0])
	}
	r := row{
		local: address(8, binary.BigEndian.Uint16(body[4:])), remote: address(24, binary.BigEndian.Uint16(body[6:])),
		listens: body[1] == tcpListen, uid: binary.NativeEndian.Uint32(body[64:]), inode: strconv.FormatUint(uint64(binary.NativeEndian.Uint32(body[68:])), 10),
	}
	if r.listens {
		r.waiting = int(binary.NativeEndian.Uint32(body[56:]) & 0x7fffffff)
		r.backlog = int(binary.NativeEndian.Uint32(body[60:]) & 0x7fffffff)
	}
	return r, nil
}
