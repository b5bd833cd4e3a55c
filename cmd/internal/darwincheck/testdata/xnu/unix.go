// Package unix is what files for macOS use of golang.org/x/sys/unix, made of what
// Linux has: each call refuses what xnu refuses. The numbers are those of xnu.
package unix

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Errors, and what is the same.
const (
	EINTR        = unix.EINTR
	EPERM        = unix.EPERM
	EACCES       = unix.EACCES
	IPPROTO_IP   = 0
	IPPROTO_TCP  = 6
	IPPROTO_IPV6 = 41
)

var (
	CloseOnExec = unix.CloseOnExec
	Close       = unix.Close
)

// Options of netinet/in.h, netinet6/in6.h, netinet/tcp.h and sys/un.h.
const (
	IP_BOUND_IF          = 25
	IPV6_BOUND_IF        = 125
	TCP_CONNECTION_INFO  = 0x106
	SOL_LOCAL            = 0
	LOCAL_PEERCRED       = 1
	tcpRxtConnDropTime   = 0x80
	soBindToIfindex      = 62
	secondInMilliseconds = 1000
)

// SetsockoptInt takes an option of the socket's own family alone.
func SetsockoptInt(fd, level, option, value int) error {
	domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return err
	}
	switch {
	case level == IPPROTO_IP && option == IP_BOUND_IF && domain == unix.AF_INET, level == IPPROTO_IPV6 && option == IPV6_BOUND_IF && domain == unix.AF_INET6:
		return unix.SetsockoptInt(fd, unix.SOL_SOCKET, soBindToIfindex, value)
	case level == IPPROTO_TCP && option == tcpRxtConnDropTime:
		return unix.SetsockoptInt(fd, level, unix.TCP_USER_TIMEOUT, value*secondInMilliseconds)
	}
	return unix.EINVAL
}

// Xucred is struct xucred of sys/ucred.h, in part.
type Xucred struct {
	Uid    uint32
	Groups [16]uint32
}

func GetsockoptXucred(fd, level, option int) (*Xucred, error) {
	if level != SOL_LOCAL || option != LOCAL_PEERCRED {
		return nil, unix.EINVAL
	}
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return nil, err
	}
	return &Xucred{Uid: cred.Uid, Groups: [16]uint32{cred.Gid + 1}}, nil
}

// TCPConnectionInfo is struct tcp_connection_info of netinet/tcp.h, in part.
type TCPConnectionInfo struct{ Txretransmitpackets, Txpackets uint64 }

func GetsockoptTCPConnectionInfo(fd, level, option int) (*TCPConnectionInfo, error) {
	if level != IPPROTO_TCP || option != TCP_CONNECTION_INFO {
		return nil, unix.EINVAL
	}
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return nil, err
	}
	return &TCPConnectionInfo{Txretransmitpackets: uint64(info.Total_retrans), Txpackets: 1 << 40}, nil
}

// Of sys/event.h.
const (
	EVFILT_PROC = -5
	EV_ADD      = 0x1
	EV_ONESHOT  = 0x10
	NOTE_EXIT   = 0x80000000
)

// Kevent_t is struct kevent.
type Kevent_t struct {
	Ident  uint64
	Filter int16
	Flags  uint16
	Fflags uint32
}

func SetKevent(k *Kevent_t, fd, mode, flags int) {
	k.Ident, k.Filter, k.Flags = uint64(fd), int16(mode), uint16(flags)
}

func Kqueue() (int, error) { return unix.EpollCreate1(0) }

// Kevent waits for the end of a process. One that has ended, and is not reaped, is
// none any more.
func Kevent(queue int, changes, events []Kevent_t, _ *unix.Timespec) (int, error) {
	for _, c := range changes {
		if c.Filter != EVFILT_PROC || c.Flags != EV_ADD|EV_ONESHOT || c.Fflags != NOTE_EXIT {
			return 0, unix.EINVAL
		}
		stat, err := os.ReadFile("/proc/" + strconv.FormatUint(c.Ident, 10) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return 0, unix.ESRCH
		}
		process, err := unix.PidfdOpen(int(c.Ident), 0)
		if err != nil {
			return 0, err
		}
		defer unix.Close(process)
		if err := unix.EpollCtl(queue, unix.EPOLL_CTL_ADD, process, &unix.EpollEvent{Events: unix.EPOLLIN}); err != nil {
			return 0, err
		}
	}
	ended := make([]unix.EpollEvent, len(events))
	return unix.EpollWait(queue, ended, -1)
}

// SYS_FCNTL is of sys/syscall.h, and fPunchHole of sys/fcntl.h.
const (
	SYS_FCNTL  = 92
	fPunchHole = 99
	block      = 4096
)

// Syscall is fcntl with F_PUNCHHOLE, whose hole begins and ends with a block.
func Syscall(trap, fd, command, argument uintptr) (uintptr, uintptr, syscall.Errno) {
	if trap != SYS_FCNTL || command != fPunchHole {
		return 0, 0, unix.ENOSYS
	}
	hole := (*struct {
		flags, reserved uint32
		offset, length  int64
	})(*(*unsafe.Pointer)(unsafe.Pointer(&argument)))
	if hole.flags != 0 || hole.reserved != 0 || hole.offset%block != 0 || hole.length%block != 0 {
		return 0, 0, unix.EINVAL
	}
	if err := unix.Fallocate(int(fd), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, hole.offset, hole.length); err != nil {
		return 0, 0, err.(syscall.Errno)
	}
	return 0, 0, 0
}
