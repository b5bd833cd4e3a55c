package linux

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"golang.org/x/sys/unix"

	"fulmen/native"
)

// actions change the kernel's network through rtnetlink, of the network namespace of
// the calling thread, and of the interfaces that they are called for alone. Each
// change is one message: it is made or not made. Nothing is stored.
type actions struct{ *machine }

// CreateService gives an interface an address with Fulmen's label. As elsewhere it is
// refused with [native.ErrStale] while the interface is in a bridge.
func (a actions) CreateService(ctx context.Context, spec native.ServiceSpec) (native.NetworkService, error) {
	var made native.NetworkService
	err := a.act(ctx, native.FeatureNetworkService, spec.Interface, func(now tables) error {
		if err := spec.Check(); err != nil {
			return err
		}
		label, err := serviceLabel(spec.Interface, spec.Name)
		if err != nil {
			return err
		}
		l, isThere := now.link(spec.Interface)
		switch {
		case !isThere:
			return native.ErrNotFound
		case slices.ContainsFunc(now.services(), func(s native.NetworkService) bool { return s.Interface == spec.Interface }):
			return native.ErrExists
		case l.Master != 0:
			return fmt.Errorf("a bridge has it: %w", native.ErrStale)
		}
		added := address{Index: l.Index, Address: spec.Address, Label: label}
		if err := change(unix.RTM_NEWADDR, unix.NLM_F_CREATE|unix.NLM_F_EXCL, added.message()); err != nil {
			return err
		}
		made = tables{Links: []link{l}, Addresses: []address{added}}.services()[0]
		return nil
	})
	return made, err
}

// DeleteService takes the address away that stands for a service, if that is as
// expected.
func (a actions) DeleteService(ctx context.Context, expected native.NetworkService) error {
	return a.act(ctx, native.FeatureNetworkService, expected.Interface, func(now tables) error {
		all := now.services()
		at := slices.IndexFunc(all, func(s native.NetworkService) bool { return s.ID == expected.ID })
		switch {
		case at < 0:
			return native.ErrNotFound
		case len(all[at].Addresses) != 1 || !reflect.DeepEqual(all[at], expected):
			return native.ErrStale
		}
		l, _ := now.link(expected.Interface)
		return change(unix.RTM_DELADDR, 0, address{Index: l.Index, Address: expected.Addresses[0]}.message())
	})
}

// SetBridgeMember takes an interface out of a bridge or puts it in. One that has an
// IPv4 address is refused with [native.ErrStale], as macOS does: in a bridge it would
// be of no use. One that is in another bridge is refused with [native.ErrExists].
func (a actions) SetBridgeMember(ctx context.Context, bridge, iface string, member bool) error {
	return a.act(ctx, native.FeatureBridgeMembership, iface, func(now tables) error {
		l, isThere := now.link(iface)
		above, isBridge := now.link(bridge)
		switch {
		case !isThere || !isBridge || above.Kind != "bridge":
			return native.ErrNotFound
		case member == (l.Master == above.Index):
			return nil
		case member && l.Master != 0:
			return native.ErrExists
		case member && now.hasIPv4(l.Index):
			return fmt.Errorf("it has an address: %w", native.ErrStale)
		case !member:
			above.Index = 0
		}
		body := make([]byte, unix.SizeofIfInfomsg)
		binary.NativeEndian.PutUint32(body[4:], uint32(l.Index))
		return change(unix.RTM_NEWLINK, 0, withAttribute(body, unix.IFLA_MASTER, binary.NativeEndian.AppendUint32(nil, uint32(above.Index))))
	})
}

// act runs a change over what is there now, and says in its error which it was.
func (a actions) act(ctx context.Context, action native.Feature, subject string, f func(now tables) error) error {
	err := a.usable(ctx)
	if err == nil {
		var now tables
		if now, err = a.links(); err == nil {
			err = f(now)
		}
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EEXIST):
		err = native.ErrExists
	case errors.Is(err, unix.EADDRNOTAVAIL), errors.Is(err, unix.ENODEV):
		err = native.ErrNotFound // it went between the two messages
	case errors.Is(err, unix.EPERM):
		return native.Unsupported(action, notPermitted())
	}
	return &native.ActionError{Action: action, Subject: subject, Err: err}
}

// notPermitted is why a process without the privilege changes nothing.
func notPermitted() native.Reason {
	return native.ReasonNeedsRoot.With("changing the network needs CAP_NET_ADMIN")
}

// mayChange says why this process may not change the network of its namespace; empty
// where it may. It asks for a change of what is not there, which the kernel refuses
// for one reason or the other.
func mayChange() native.Reason {
	if errors.Is(change(unix.RTM_DELADDR, 0, address{Index: 1 << 30}.message()), unix.EPERM) {
		return notPermitted()
	}
	return ""
}

// message is struct ifaddrmsg with the attributes of an address of IPv4.
func (a address) message() []byte {
	body := []byte{unix.AF_INET, byte(max(0, a.Address.Bits())), unix.IFA_F_PERMANENT, unix.RT_SCOPE_LINK}
	body = binary.NativeEndian.AppendUint32(body, uint32(a.Index))
	if ip := a.Address.Addr(); ip.Is4() {
		octets := ip.As4()
		body = withAttribute(body, unix.IFA_LOCAL, octets[:])
		body = withAttribute(body, unix.IFA_ADDRESS, octets[:])
	}
	if a.Label != "" {
		body = withAttribute(body, unix.IFA_LABEL, append([]byte(a.Label), 0))
	}
	return body
}

// withAttribute adds an attribute to a message: length and type, 2 bytes each, and the
// value, padded to 4 bytes.
func withAttribute(body []byte, kind uint16, value []byte) []byte {
	body = binary.NativeEndian.AppendUint16(body, uint16(unix.SizeofRtAttr+len(value)))
	body = binary.NativeEndian.AppendUint16(body, kind)
	body = append(body, value...)
	for len(body)%4 != 0 {
		body = append(body, 0)
	}
	return body
}

// change sends one message to the kernel and takes its answer.
func change(kind, flags uint16, body []byte) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: dumpSeconds}); err != nil {
		return err
	}
	d := dumper{fd: fd, buffer: make([]byte, dumpBuffer), into: new(tables)}
	return d.exchange(kind, unix.NLM_F_REQUEST|unix.NLM_F_ACK|flags, body)
}
