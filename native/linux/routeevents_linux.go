package linux

import (
	"errors"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"fulmen/native"
)

// routeEvents hears of changes of links, addresses and default routes.
type routeEvents struct{ descriptor }

// openRouteEvents joins rtnetlink's groups in the network namespace of the
// calling thread. bufferBytes is the size of the queue; 0 is the system's own.
func openRouteEvents(bufferBytes int) ([]listener, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, refused(native.AreaNetwork, "rtnetlink", err)
	}
	const groups = unix.RTMGRP_LINK | unix.RTMGRP_IPV4_IFADDR | unix.RTMGRP_IPV6_IFADDR | unix.RTMGRP_IPV4_ROUTE | unix.RTMGRP_IPV6_ROUTE
	err = unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: groups})
	if bufferBytes > 0 {
		err = errors.Join(err, unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, bufferBytes))
	}
	if err != nil {
		return nil, errors.Join(refused(native.AreaNetwork, "rtnetlink", err), unix.Close(fd))
	}
	return []listener{routeEvents{descriptor(fd)}}, nil
}

func (routeEvents) interest() int16 { return unix.POLLIN }

// mostDatagrams is how many are taken before the hints go out, so that a flood
// delays nobody; poll(2) says at once that there is more.
const mostDatagrams = 256

// ready takes what is queued and names each thing once. When the queue ran over,
// whatever is left in it is as old as what was lost: one hint says that
// everything may have changed, and the queue, now empty, goes on as before.
func (r routeEvents) ready(_ int16, emit func(source, subject string)) error {
	var events []routeEvent
	overflow := false
	buffer := make([]byte, dumpBuffer)
	for range mostDatagrams {
		n, from, err := unix.Recvfrom(int(r.descriptor), buffer, unix.MSG_TRUNC)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ENOBUFS):
			overflow = true
			continue
		case errors.Is(err, unix.EAGAIN):
			speak(events, overflow, emit)
			return nil
		case err != nil:
			return err
		}
		// Other processes with the privilege may send to the socket; the kernel is
		// number 0.
		if sender, ok := from.(*unix.SockaddrNetlink); !ok || sender.Pid != 0 {
			continue
		}
		messages, err := syscall.ParseNetlinkMessage(buffer[:min(n, len(buffer))])
		overflow = overflow || err != nil || n > len(buffer)
		for _, m := range messages {
			if event, ok := parseRouteEvent(m); ok && !slices.Contains(events, event) {
				events = append(events, event)
			}
		}
	}
	speak(events, overflow, emit)
	return nil
}

func speak(events []routeEvent, overflow bool, emit func(source, subject string)) {
	if overflow {
		emit("rtnetlink.overflow", "")
		return
	}
	for _, e := range events {
		emit(e.source, e.subject)
	}
}

// routeEvent is what one message announces.
type routeEvent struct{ source, subject string }

// parseRouteEvent is false for what changes no fact: routes that are not default
// routes, and the reports of wireless scans, which come as links.
func parseRouteEvent(m syscall.NetlinkMessage) (routeEvent, bool) {
	switch m.Header.Type {
	case unix.RTM_NEWLINK, unix.RTM_DELLINK:
		attributes := parseAttributes(after(m.Data, unix.SizeofIfInfomsg))
		if _, scan := attributes[unix.IFLA_WIRELESS]; scan {
			return routeEvent{}, false
		}
		return routeEvent{"rtnetlink.link", attributes.text(unix.IFLA_IFNAME)}, true
	case unix.RTM_NEWADDR, unix.RTM_DELADDR:
		return routeEvent{"rtnetlink.address", parseAttributes(after(m.Data, unix.SizeofIfAddrmsg)).text(unix.IFA_LABEL)}, true
	case unix.RTM_NEWROUTE, unix.RTM_DELROUTE:
		if len(m.Data) < unix.SizeofRtMsg || m.Data[rtDestinationLength] != 0 {
			return routeEvent{}, false
		}
		return routeEvent{"rtnetlink.route", "default"}, true
	}
	return routeEvent{}, false
}
