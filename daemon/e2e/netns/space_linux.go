package netns

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// ErrNotRoot says that namespaces need root.
var ErrNotRoot = errors.New("network namespaces need root")

// Space is a network namespace with a host name of its own, its loopback up and no
// word of how short of memory the machine is: a thread that lives in it.
type Space struct {
	// Name is the host's.
	Name string

	file  int // by which interfaces are moved there
	calls chan func()
	once  sync.Once
}

// New makes a space. Close ends it.
func New(name string) (*Space, error) {
	if os.Geteuid() != 0 {
		return nil, ErrNotRoot
	}
	s := &Space{Name: name, file: -1, calls: make(chan func())}
	entered := make(chan error)
	go func() {
		// Never unlocked: the runtime ends the thread with the goroutine.
		runtime.LockOSThread()
		err := unix.Unshare(unix.CLONE_NEWNET | unix.CLONE_NEWUTS | unix.CLONE_NEWNS)
		if err == nil {
			err = unix.Sethostname([]byte(name))
		}
		if err == nil {
			s.file, err = unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		}
		if err == nil {
			err = setUp("lo")
		}
		if err == nil {
			err = hidePressure()
		}
		entered <- err
		for call := range s.calls {
			call()
		}
	}()
	if err := <-entered; err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close ends the thread, and with it what [Space.Start] started. The namespace
// ends with the last process in it.
func (s *Space) Close() {
	s.once.Do(func() {
		close(s.calls)
		if s.file >= 0 {
			unix.Close(s.file)
		}
	})
}

// Do calls f in the space and waits for it.
func (s *Space) Do(f func() error) error {
	answer := make(chan error)
	s.calls <- func() { answer <- f() }
	return <-answer
}

// Start starts a command in the space. It is killed when the space is closed.
func (s *Space) Start(c *exec.Cmd) error {
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Pdeathsig = syscall.SIGKILL // the kernel's parent is the thread
	return s.Do(c.Start)
}

// Traffic is how many bytes an interface has received and sent, frames included.
func (s *Space) Traffic(iface string) (received, sent uint64, err error) {
	err = s.Do(func() error {
		link, err := netlink.LinkByName(iface)
		if err == nil {
			received, sent = link.Attrs().Statistics.RxBytes, link.Attrs().Statistics.TxBytes
		}
		return err
	})
	return received, sent, err
}

// Connections are the other ends of the established TCP connections, but for
// those over loopback.
func (s *Space) Connections() ([]string, error) {
	const established = 1
	var all []string
	err := s.Do(func() error {
		for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
			sockets, err := netlink.SocketDiagTCP(family)
			if err != nil {
				return err
			}
			for _, one := range sockets {
				if one.State == established && !one.ID.Destination.IsLoopback() {
					all = append(all, one.ID.Destination.String())
				}
			}
		}
		return nil
	})
	return all, err
}

// hidePressure hides from the calling thread what the kernel says of memory that is
// short: other programs of the machine, of which a daemon would take account. It stays
// to be seen where a container may mount nothing.
func hidePressure() error {
	err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	for _, file := range []string{"/proc/pressure/memory", "/sys/fs/cgroup/memory.pressure"} {
		if err == nil {
			err = unix.Mount(os.DevNull, file, "", unix.MS_BIND, "")
		}
		if errors.Is(err, unix.ENOENT) {
			err = nil
		}
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

// setUp brings an interface of the calling thread's namespace up.
func setUp(name string) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	return netlink.LinkSetUp(link)
}
