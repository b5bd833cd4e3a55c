package change

import (
	"encoding/binary"
	"net/netip"
	"slices"

	"fulmen/daemon/api"
)

// Asked is what an end is to be changed to.
type Asked struct {
	// Record is what is known of it: change, link, end, who asked, and when.
	Record
	// Wanted is the address that the other end proposes; the zero prefix: none.
	Wanted netip.Prefix
	// Taken are the networks and addresses that cannot be used at this end.
	Taken []netip.Prefix
	// Before is an earlier change of this end of which something is still to be put
	// back; nil where there is none.
	Before *Record
}

// Plan gives the record of what is to be changed, or an *api.Error that says what
// is in the way. The record's address is the one wanted, or that in the first free
// network after it.
func Plan(f Found, a Asked) (Record, error) {
	if !f.Present {
		return Record{}, api.Errorf(api.ReasonRDMANoDevice, f.Interface, "There is no interface %s.", f.Interface)
	}
	for _, s := range f.Services {
		// A service of somebody's is not touched, and a second one beside it is refused
		// by the system.
		if s.Enabled {
			return Record{}, api.Errorf(api.ReasonRDMAServiceInWay, f.Interface, "%s has a network service already, %q, which Fulmen did not make.", f.Interface, s.Name)
		}
	}
	own, free := FirstFree(a.Wanted, a.End == a.Link.Low, a.Taken)
	if !free {
		return Record{}, api.NewError(api.ReasonRDMANoFreeNetwork, a.Link.String())
	}
	r := a.Record
	r.Since, r.State, r.Interface, r.Address = r.StartedAt, api.RDMAChangePlanned, f.Interface, own
	for _, m := range f.Bridges {
		if m.member() {
			r.Steps = append(r.Steps, Step{What: api.RDMAStepBridge, Interface: f.Interface, Bridge: m.Bridge, State: api.RDMAStepPlanned})
		}
	}
	if a.Before != nil && len(r.Steps) == 0 {
		r.Steps = inherited(*a.Before, f)
	}
	r.Steps = append(r.Steps, Step{
		What: api.RDMAStepService, Interface: f.Interface, State: api.RDMAStepPlanned,
		Service: &Service{
			Name: api.ServiceName(a.End.PortNumber), Interface: f.Interface, Enabled: true, IPv4: Manual, Addresses: []netip.Prefix{own},
		},
	})
	return r, nil
}

// inherited are the bridges that an earlier change took the interface out of and
// could not put it back into.
func inherited(before Record, f Found) []Step {
	var steps []Step
	for _, s := range before.Left() {
		if s.What == api.RDMAStepBridge && s.Interface == f.Interface {
			s.State, s.Found = api.RDMAStepDone, ""
			steps = append(steps, s)
		}
	}
	return steps
}

// The networks that cables get: of four addresses each, out of the part of
// 169.254/16 that RFC 3927 does not reserve. No router forwards them.
const (
	networkBits  = 30
	firstNetwork = 169<<24 | 254<<16 | 1<<8
	lastNetwork  = 169<<24 | 254<<16 | 254<<8 | 252
)

// linkLocal is the network of self-assigned addresses. That a Mac has one of them
// takes that address and not all of the others.
var linkLocal = netip.MustParsePrefix("169.254.0.0/16")

// address is an end's in a network: the low end of
// a cable has the first address, the high end the second.
func address(network uint32, low bool) netip.Prefix {
	host := network + 2
	if low {
		host = network + 1
	}
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{byte(host >> 24), byte(host >> 16), byte(host >> 8), byte(host)}), networkBits)
}

// networkOf is the network that an address of a cable is in.
func networkOf(p netip.Prefix) uint32 {
	octets := p.Addr().As4()
	return binary.BigEndian.Uint32(octets[:]) &^ 3
}

// Mate is the address of the other end.
func Mate(p netip.Prefix) netip.Prefix {
	network := networkOf(p)
	return address(network, p != address(network, true))
}

// IsCable reports whether an address is one that an end of a cable can be given.
func IsCable(p netip.Prefix, low bool) bool {
	if !p.IsValid() || !p.Addr().Is4() || p.Bits() != networkBits {
		return false
	}
	network := networkOf(p)
	return network >= firstNetwork && network <= lastNetwork && p == address(network, low)
}

// FirstFree is an end's address in the first network, from that of wanted on, that
// overlaps none of taken; false where none is left. Without wanted it begins with
// the first there is.
func FirstFree(wanted netip.Prefix, low bool, taken []netip.Prefix) (netip.Prefix, bool) {
	from := uint32(firstNetwork)
	if IsCable(wanted, low) {
		from = networkOf(wanted)
	}
	for network := from; network <= lastNetwork; network += 4 {
		one := address(network, low)
		if !slices.ContainsFunc(taken, func(t netip.Prefix) bool { return takes(t, one.Masked()) }) {
			return one, true
		}
	}
	return netip.Prefix{}, false
}

// takes reports whether an address in use keeps a network from being used.
func takes(used, network netip.Prefix) bool {
	if used.Bits() <= linkLocal.Bits() && linkLocal.Contains(used.Addr()) {
		return network.Contains(used.Addr())
	}
	return network.Overlaps(used)
}
