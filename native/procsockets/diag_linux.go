package procsockets

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"sync"

	"github.com/vishvananda/netlink/nl"
	"github.com/vishvananda/netns"
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

// row is one socket of the kernel's table.
type row struct {
	local, remote netip.AddrPort
	listens       bool
	waiting       int // connections that were not accepted yet, where it listens
	backlog       int // what it was told to have room for, where the kernel answered
	inode         string
	uid           uint32 // of the account that made it
}

// room is how many connections more a listener may be sent: the kernel makes room
// for one more than it was told, and keeps others waiting for a second.
func (r row) room() int { return max(0, r.backlog+1-r.waiting) }

// askListening lists the sockets that listen at a port.
func askListening(port int) ([]row, error) {
	all, err := askAt(port, 1<<tcpListen)
	return slices.DeleteFunc(all, func(r row) bool { return !r.listens }), err
}

// askAt lists the sockets at a port that are in one of some states.
func askAt(port int, states uint32) ([]row, error) {
	socket, err := openDiag()
	if err != nil {
		return nil, err
	}
	defer socket.Close()
	var all []row
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		question := make([]byte, diagAskBytes)
		question[0], question[1] = family, unix.IPPROTO_TCP
		binary.NativeEndian.PutUint32(question[4:], states)
		binary.BigEndian.PutUint16(question[8:], uint16(port))
		rows, err := ask(socket, unix.NLM_F_DUMP, question)
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
	socket, err := openDiag()
	if err != nil {
		return nil, err
	}
	defer socket.Close()
	rows, err := ask(socket, 0, question)
	if errors.Is(err, unix.ENOENT) {
		return nil, nil
	}
	return rows, err
}

// findByteOrder has netlink look up the machine's byte order, which it keeps without a lock.
var findByteOrder = sync.OnceFunc(func() { nl.NativeEndian() })

// openDiag opens a socket on which the kernel is asked.
func openDiag() (*nl.NetlinkSocket, error) {
	findByteOrder()
	socket, err := nl.GetNetlinkSocketAt(netns.None(), netns.None(), unix.NETLINK_INET_DIAG)
	if err == nil {
		err = socket.SetReceiveTimeout(&unix.Timeval{Sec: diagWithinS})
	}
	return socket, err
}

// ask puts one question to the kernel, and reads all of the answer.
func ask(socket *nl.NetlinkSocket, flags int, question []byte) ([]row, error) {
	answers, err := askRaw(socket, flags, question)
	if err != nil {
		return nil, err
	}
	var all []row
	for _, body := range answers {
		r, err := parseDiagReply(body)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// askRaw is ask, and leaves the answers as they are.
func askRaw(socket *nl.NetlinkSocket, flags int, question []byte) ([][]byte, error) {
	request := nl.NewNetlinkRequest(diagByFamily, flags)
	request.Sockets = map[int]*nl.SocketHandle{unix.NETLINK_INET_DIAG: {Seq: request.Seq, Socket: socket}}
	request.AddRawData(question)
	answers, err := request.Execute(unix.NETLINK_INET_DIAG, diagByFamily)
	if errors.Is(err, nl.ErrDumpInterrupted) {
		err = nil
	}
	return answers, err
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
