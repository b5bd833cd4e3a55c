package linux

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/vishvananda/netlink/nl"
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
			return fmt.Errorf("it is a member of a bridge: %w", native.ErrStale)
		}
		added := address{Index: l.Index, Address: spec.Address, Label: label}
		if err := added.change(unix.RTM_NEWADDR, unix.NLM_F_CREATE|unix.NLM_F_EXCL); err != nil {
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
		return address{Index: l.Index, Address: expected.Addresses[0]}.change(unix.RTM_DELADDR, 0)
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
			return fmt.Errorf("it still has an address: %w", native.ErrStale)
		case !member:
			above.Index = 0
		}
		request := nl.NewNetlinkRequest(unix.RTM_NEWLINK, unix.NLM_F_ACK)
		head := nl.NewIfInfomsg(unix.AF_UNSPEC)
		head.Index = int32(l.Index)
		request.AddData(head)
		request.AddData(nl.NewRtAttr(unix.IFLA_MASTER, nl.Uint32Attr(uint32(above.Index))))
		return change(request)
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
	case errors.Is(err, unix.EEXIST):
		err = native.ErrExists
	case errors.Is(err, unix.EADDRNOTAVAIL), errors.Is(err, unix.ENODEV):
		err = native.ErrNotFound // it went between the two messages
	case errors.Is(err, unix.EPERM):
		return native.Unsupported(action, notPermitted())
	}
	return native.Acted(action, subject, err)
}

// notPermitted is why a process without the privilege changes nothing.
func notPermitted() native.Reason {
	return native.ReasonNeedsRoot.With("changing the network needs CAP_NET_ADMIN")
}

// mayChange says why this process may not change the network of its namespace; empty
// where it may. It asks for a change of what is not there, which the kernel refuses
// for one reason or the other.
func mayChange() native.Reason {
	if errors.Is(address{Index: 1 << 30}.change(unix.RTM_DELADDR, 0), unix.EPERM) {
		return notPermitted()
	}
	return ""
}

// change has the kernel change an address.
func (a address) change(kind, flags int) error {
	request := nl.NewNetlinkRequest(kind, flags|unix.NLM_F_ACK)
	head := nl.NewIfAddrmsg(unix.AF_INET)
	head.Prefixlen, head.Flags, head.Scope, head.Index = uint8(max(0, a.Address.Bits())), unix.IFA_F_PERMANENT, unix.RT_SCOPE_LINK, uint32(a.Index)
	request.AddData(head)
	if ip := a.Address.Addr(); ip.Is4() {
		request.AddData(nl.NewRtAttr(unix.IFA_LOCAL, ip.AsSlice()))
		request.AddData(nl.NewRtAttr(unix.IFA_ADDRESS, ip.AsSlice()))
	}
	if a.Label != "" {
		request.AddData(nl.NewRtAttr(unix.IFA_LABEL, nl.ZeroTerminated(a.Label)))
	}
	return change(request)
}

// change sends one message to the kernel and takes its answer.
func change(request *nl.NetlinkRequest) error {
	kernel, err := openRoutes()
	if err != nil {
		return err
	}
	defer kernel.socket.Close()
	_, err = kernel.ask(request, 0)
	return err
}
