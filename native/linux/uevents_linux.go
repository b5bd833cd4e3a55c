package linux

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"fulmen/native"
)

const (
	// ueventKernelGroup is the group of the kernel's own events; those that udevd
	// has worked on go to group 2.
	ueventKernelGroup = 1
	// initialUserNamespace is the number of that namespace's file, the same on
	// every machine (PROC_USER_INIT_INO).
	initialUserNamespace = 0xEFFFFFFD
	// nsGetUserNS is NS_GET_USERNS of linux/nsfs.h.
	nsGetUserNS = 0xb701
)

// uevents hears of devices that come, go and change.
type uevents struct{ netlinkGroup }

// openUevents joins the kernel's group. bufferBytes is as for [openNetlink].
func openUevents(bufferBytes int) ([]listener, error) {
	if err := ueventsReachUs(); err != nil {
		return nil, err
	}
	socket, err := openNetlink(unix.NETLINK_KOBJECT_UEVENT, ueventKernelGroup, bufferBytes)
	if err != nil {
		return nil, refused(native.AreaThunderbolt, "uevent socket", err)
	}
	return []listener{uevents{socket}}, nil
}

// ueventsReachUs is an error when the socket would open and stay silent: the
// kernel sends events of hardware to those network namespaces only that belong
// to the initial user namespace, to which a rootless container's does not.
func ueventsReachUs() error {
	network, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return refused(native.AreaThunderbolt, "ns/net", err)
	}
	defer unix.Close(network)
	user, err := unix.IoctlRetInt(network, nsGetUserNS)
	if err != nil {
		// EPERM: it belongs to a user namespace outside of this process's own.
		return refused(native.AreaThunderbolt, "owner of the network namespace", err)
	}
	defer unix.Close(user)
	var stat unix.Stat_t
	if err := unix.Fstat(user, &stat); err != nil {
		return refused(native.AreaThunderbolt, "owner of the network namespace", err)
	}
	if stat.Ino != initialUserNamespace {
		return native.Unsupported(native.HintsFeature(native.AreaThunderbolt),
			native.ReasonNoOS.With(fmt.Sprintf("the kernel sends no uevents to the network namespace of user namespace %d", stat.Ino)))
	}
	return nil
}

// ready takes what is queued and names each device and action once. When the
// queue ran over, every area of which uevents speak may have changed.
func (u uevents) ready(_ int16, report announce) error {
	var events []uevent
	lost, err := u.take(func(datagram []byte) {
		event, err := parseUevent(datagram)
		if err == nil && event.areas() != nil && !slices.Contains(events, event) {
			events = append(events, event)
		}
	})
	if lost {
		for _, area := range ueventAreas() {
			report(area, "uevent.overflow", "")
		}
		return err
	}
	for _, event := range events {
		for _, area := range event.areas() {
			report(area, "uevent."+event.action, event.subject())
		}
	}
	return err
}
