package darwin

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"fulmen/native"
)

// network reads the interfaces as Go sees them. What an interface is made of is
// SystemConfiguration's to tell; it is never guessed from its name.
func network(list func() ([]net.Interface, error)) (*native.Network, native.Reason) {
	interfaces, err := list()
	if err != nil {
		return nil, native.ReasonReadFailed.With(err.Error())
	}
	n := native.Network{Interfaces: []native.Interface{}}
	for _, i := range interfaces {
		n.Interfaces = append(n.Interfaces, one(i))
	}
	slices.SortFunc(n.Interfaces, func(a, b native.Interface) int { return strings.Compare(a.Name, b.Name) })
	for _, field := range []string{"bridges", "services", "primary_interface"} {
		n.Unknown.Add(field, later)
	}
	return &n, ""
}

// one reads an interface. IFF_RUNNING is the driver's word that something
// answers at the other end.
func one(i net.Interface) native.Interface {
	up, link, mtu := i.Flags&net.FlagUp != 0, i.Flags&net.FlagRunning != 0, int64(i.MTU)
	out := native.Interface{Name: i.Name, Type: native.InterfaceUnknown, Index: i.Index, HardwareAddress: i.HardwareAddr.String(), Up: &up, Link: &link, MTUBytes: &mtu}
	if i.Flags&net.FlagLoopback != 0 {
		out.Type = native.InterfaceLoopback
	}
	addresses, err := i.Addrs()
	if err != nil {
		out.Unknown.Add("addresses", native.ReasonReadFailed.With(err.Error()))
	} else {
		out.Addresses = []native.InterfaceAddress{}
	}
	for _, a := range addresses {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			out.Addresses = append(out.Addresses, native.InterfaceAddress{Address: p, Origin: native.OriginUnknown})
		}
	}
	out.Unknown.Add("speed_bits_per_s", later)
	out.Unknown.Add("expensive", later)
	return out
}
