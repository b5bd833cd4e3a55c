package linux

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/matryer/is"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"fulmen/native"
)

// openListener joins the kernel's group, or skips where it may not.
func openListener(t *testing.T, bufferBytes int) uevents {
	t.Helper()
	opened, err := openUevents(bufferBytes)
	if errors.Is(err, native.ErrUnsupported) {
		t.Skipf("no uevents here: %v", err)
	}
	is.New(t).NoErr(err)
	t.Cleanup(func() { closeAll(opened) })
	return opened[0].(uevents)
}

// taken reads events, which the kernel has sent before the call that caused them
// returns.
func taken(t *testing.T, u uevents) (events []uevent, lost bool) {
	t.Helper()
	is := is.New(t)
	lost, err := u.take(func(datagram []byte) {
		event, err := parseUevent(datagram)
		is.NoErr(err) // the kernel's own are all understood
		events = append(events, event)
	})
	is.NoErr(err)
	return events, lost
}

// ownSysfs mounts a /sys of the network namespace that the thread is in.
func ownSysfs(t *testing.T) string {
	t.Helper()
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Skipf("no mounts here: %v", err)
	}
	folder := t.TempDir()
	if err := unix.Mount("sysfs", folder, "sysfs", 0, ""); err != nil {
		t.Skipf("no sysfs of its own here: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(folder, unix.MNT_DETACH) }) // it ends with the namespace too
	return folder
}

// TestKernelUevents has the kernel speak of interfaces in a namespace of the
// test's own.
func TestKernelUevents(t *testing.T) {
	is := is.New(t)
	unshare(t, unix.CLONE_NEWNET|unix.CLONE_NEWNS)
	sys := ownSysfs(t)
	hintWatcher := openListener(t, 0)

	is.NoErr(os.WriteFile(filepath.Join(sys, "class/net/lo/uevent"), []byte("change"), 0o600))
	events, _ := taken(t, hintWatcher)
	lo := uevent{action: "change", device: "/devices/virtual/net/lo", subsystem: "net"}
	is.True(slices.Contains(events, lo))

	is.NoErr(netlink.LinkAdd(veth("fa0", "fb0")))
	events, _ = taken(t, hintWatcher)
	is.True(slices.Contains(events, uevent{action: "add", device: "/devices/virtual/net/fa0", subsystem: "net"}))
	is.True(slices.Contains(events, uevent{action: "add", device: "/devices/virtual/net/fb0", subsystem: "net"}))

	is.NoErr(netlink.LinkDel(named(t, "fa0")))
	events, _ = taken(t, hintWatcher)
	is.True(slices.Contains(events, uevent{action: "remove", device: "/devices/virtual/net/fa0", subsystem: "net"}))

	// Hardware is announced to every network namespace, this one too.
	is.NoErr(os.WriteFile(filepath.Join(sys, "class/mem/null/uevent"), []byte("change"), 0o600))
	events, _ = taken(t, hintWatcher)
	is.True(slices.Contains(events, uevent{action: "change", device: "/devices/virtual/mem/null", subsystem: "mem"}))
}

// TestUeventOverflow fills the queue while nobody takes from it.
func TestUeventOverflow(t *testing.T) {
	is := is.New(t)
	unshare(t, unix.CLONE_NEWNET|unix.CLONE_NEWNS)
	sys := ownSysfs(t)
	hintWatcher := openListener(t, 1) // the kernel makes the least of it that it allows
	for range 100 {
		is.NoErr(os.WriteFile(filepath.Join(sys, "class/net/lo/uevent"), []byte("change"), 0o600))
	}
	received := map[native.Area]int{}
	report := func(area native.Area, source, subject string) {
		is.Equal(source, "uevent.overflow")
		is.Equal(subject, "")
		received[area]++
	}
	is.NoErr(hintWatcher.ready(unix.POLLERR, report))
	is.Equal(received, map[native.Area]int{native.AreaNetwork: 1, native.AreaThunderbolt: 1, native.AreaRDMA: 1})
	is.NoErr(hintWatcher.ready(unix.POLLIN, report))
	is.Equal(len(received), 3)
	is.NoErr(os.WriteFile(filepath.Join(sys, "class/net/lo/uevent"), []byte("change"), 0o600))
	events, lost := taken(t, hintWatcher)
	is.True(!lost)
	is.True(slices.Contains(events, uevent{action: "change", device: "/devices/virtual/net/lo", subsystem: "net"})) // it goes on
}

// TestForeignUevents: a process with the privilege may send to the group, as
// udevd does, and is not believed.
func TestForeignUevents(t *testing.T) {
	is := is.New(t)
	unshare(t, unix.CLONE_NEWNET)
	hintWatcher := openListener(t, 0)
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_KOBJECT_UEVENT)
	is.NoErr(err)
	defer unix.Close(fd)
	forged := message("add@"+xdomain, "ACTION=add", "DEVPATH="+xdomain, "SUBSYSTEM=thunderbolt", "SEQNUM=1")
	if _, err := parseUevent(forged); err != nil {
		t.Fatal(err) // it would be believed from the kernel
	}
	if err := unix.Sendto(fd, forged, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: ueventKernelGroup}); err != nil {
		t.Skipf("the kernel does not let one process speak to another here: %v", err)
	}
	queued, _, err := unix.Recvfrom(hintWatcher.fd(), make([]byte, 1), unix.MSG_PEEK|unix.MSG_TRUNC)
	is.NoErr(err)
	is.Equal(queued, len(forged)) // it did arrive
	is.NoErr(hintWatcher.ready(unix.POLLIN, func(_ native.Area, source, subject string) { t.Errorf("believed %s %s", source, subject) }))
}

// TestUeventsOfAUserNamespace: where the kernel would stay silent the source
// refuses instead of promising.
func TestUeventsOfAUserNamespace(t *testing.T) {
	is := is.New(t)
	if os.Getenv("FULMEN_TEST_USER_NAMESPACE") == "" {
		inUserNamespace(t)
		return
	}
	_, err := openUevents(0)
	is.True(errors.Is(err, native.ErrUnsupported))
	p, err := New(Options{})
	is.NoErr(err)
	defer p.Close()
	caps, err := p.Facts.Capabilities(t.Context())
	is.NoErr(err)
	is.True(!caps[native.HintsFeature(native.AreaThunderbolt)].Supported)
	is.True(!caps[native.HintsFeature(native.AreaRDMA)].Supported)
	is.True(caps[native.HintsFeature(native.AreaNetwork)].Supported) // rtnetlink speaks there too
}

// inUserNamespace runs this test again as a process in namespaces of its own: a
// process of several threads cannot enter one.
func inUserNamespace(t *testing.T) {
	child := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), "FULMEN_TEST_USER_NAMESPACE=1")
	child.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}},
	}
	output, err := child.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Skipf("no user namespaces here: %v", err)
	}
	if err != nil {
		t.Fatalf("in the user namespace: %v\n%s", err, output)
	}
}
