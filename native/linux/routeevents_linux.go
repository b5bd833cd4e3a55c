package linux

import (
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"fulmen/native"
)

// routeEvents hears of changes of links, addresses and default routes.
type routeEvents struct {
	netlinkGroup
	// rdma reports whether there are RDMA devices. One on Ethernet has the state
	// of its interface, and GIDs made of its addresses.
	rdma func() bool
}

// openRouteEvents joins rtnetlink's groups. bufferBytes is as for [openNetlink].
func openRouteEvents(bufferBytes int, rdma func() bool) ([]listener, error) {
	const groups = unix.RTMGRP_LINK | unix.RTMGRP_IPV4_IFADDR | unix.RTMGRP_IPV6_IFADDR | unix.RTMGRP_IPV4_ROUTE | unix.RTMGRP_IPV6_ROUTE
	socket, err := openNetlink(unix.NETLINK_ROUTE, groups, bufferBytes)
	if err != nil {
		return nil, refused(native.AreaNetwork, "rtnetlink", err)
	}
	return []listener{routeEvents{socket, rdma}}, nil
}

// ready takes what is queued and names each thing once. When the queue ran over,
// whatever is left in it is as old as what was lost: one hint says that
// everything may have changed, and the queue, now empty, goes on as before.
func (r routeEvents) ready(_ int16, say announce) error {
	var events []routeEvent
	malformed := false
	lost, err := r.take(func(datagram []byte) {
		messages, err := syscall.ParseNetlinkMessage(datagram)
		malformed = malformed || err != nil
		for _, m := range messages {
			if event, ok := parseRouteEvent(m); ok && !slices.Contains(events, event) {
				events = append(events, event)
			}
		}
	})
	if lost || malformed {
		events = []routeEvent{{source: "rtnetlink.overflow"}}
	}
	for _, e := range events {
		say(native.AreaNetwork, e.source, e.subject)
	}
	if len(events) > 0 && r.rdma() {
		for _, e := range events {
			if e.source != "rtnetlink.route" {
				say(native.AreaRDMA, e.source, e.subject)
			}
		}
	}
	return err
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
		// A label is the interface's name, or begins with it.
		name, _, _ := strings.Cut(parseAttributes(after(m.Data, unix.SizeofIfAddrmsg)).text(unix.IFA_LABEL), ":")
		return routeEvent{"rtnetlink.address", name}, true
	case unix.RTM_NEWROUTE, unix.RTM_DELROUTE:
		if len(m.Data) < unix.SizeofRtMsg || m.Data[rtDestinationLength] != 0 {
			return routeEvent{}, false
		}
		return routeEvent{"rtnetlink.route", "default"}, true
	}
	return routeEvent{}, false
}
