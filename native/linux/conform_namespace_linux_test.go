package linux

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"fulmen/native"
)

// namespace is a network namespace: a thread that lives in it, and ends with it.
type namespace struct {
	file  int // by which others name it
	calls chan func()
}

func newNamespace() (*namespace, error) {
	n := &namespace{calls: make(chan func())}
	entered := make(chan error)
	go func() {
		// Never unlocked: the runtime ends the thread with the goroutine.
		runtime.LockOSThread()
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			n.file, err = unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		}
		if err == nil {
			err = withoutIPv6()
		}
		entered <- err
		for call := range n.calls {
			call()
		}
	}()
	if err := <-entered; err != nil {
		close(n.calls)
		return nil, err
	}
	return n, nil
}

// withoutIPv6 keeps the kernel from changing anything by itself: it would give
// each interface an address, and a second later call it unique.
func withoutIPv6() error {
	for _, which := range []string{"all", "default"} {
		err := os.WriteFile("/proc/sys/net/ipv6/conf/"+which+"/disable_ipv6", []byte("1"), 0)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// do calls f in the namespace and waits for it.
func (n *namespace) do(f func() error) error {
	answer := make(chan error)
	n.calls <- func() { answer <- f() }
	return <-answer
}

func (n *namespace) close() {
	close(n.calls)
	_ = unix.Close(n.file)
}

// inNamespace asks for facts in a namespace.
type inNamespace struct {
	native.Facts
	space *namespace
}

// Snapshot reads the areas there.
func (i inNamespace) Snapshot(ctx context.Context, areas ...native.Area) (s native.Snapshot, err error) {
	_ = i.space.do(func() error {
		s, err = i.Facts.Snapshot(ctx, areas...)
		return nil
	})
	return s, err
}

// Watch opens what it listens to there.
func (i inNamespace) Watch(hint func(native.Hint)) (stop func() error, err error) {
	_ = i.space.do(func() error {
		stop, err = i.Facts.Watch(hint)
		return nil
	})
	return stop, err
}

// reportUevent has the kernel announce, to the network namespace of the calling
// thread, what else it announces by itself. It adds the number.
func reportUevent(message []byte) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_KOBJECT_UEVENT)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	const anyType = 0x10 // the first that is not the protocol's own
	header := make([]byte, unix.SizeofNlMsghdr)
	binary.NativeEndian.PutUint32(header, uint32(len(header)+len(message)))
	binary.NativeEndian.PutUint16(header[4:], anyType)
	binary.NativeEndian.PutUint16(header[6:], unix.NLM_F_REQUEST)
	return unix.Sendto(fd, append(header, message...), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
}
