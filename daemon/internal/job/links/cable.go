package links

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"fulmen/daemon/api"
)

// changed says what of a cable is not as it was.
func (s State) changed(was, is api.Cable, rdma bool, now Facts) *api.Cause {
	subject, name := is.Link.String(), linkName(is.Link, now.Name)
	switch {
	case is.OneSided && !was.OneSided:
		return cause(api.ReasonLinkGone, subject, "The cable %s was pulled.", name)
	case is.Verdict == api.VerdictDown:
		return cause(api.ReasonLinkDown, subject, "The cable %s is down.", name)
	case differs(was.ForwardBitsPerS, is.ForwardBitsPerS), differs(was.BackwardBitsPerS, is.BackwardBitsPerS):
		return cause(api.ReasonLinkChanged, subject, "The cable %s runs at another speed now: %s, where it had %s.", name, speeds(is), speeds(was))
	case !rdma:
		return nil
	}
	for k := range min(len(was.Ends), len(is.Ends)) {
		if had, has := was.Ends[k].Device, is.Ends[k].Device; had != has && had != "" {
			return cause(api.ReasonLinkChanged, subject, "The RDMA device %s of %s at the cable %s is gone.", had, now.Name(is.Ends[k].End.Node), name)
		}
	}
	lost := func(e api.CableEnd, a netip.Addr) *api.Cause {
		return cause(api.ReasonAddressLost, subject, "%s lost the address %s of %s, which RDMA over the cable %s needs.", now.Name(e.End.Node), a, e.Interface, name)
	}
	for _, e := range is.Ends {
		if has, known := addressesOf(now.Network(e.End.Node), e.Interface); known {
			for _, a := range s.addresses[e.End] {
				if !slices.Contains(has, a) {
					return lost(e, a)
				}
			}
		}
	}
	if is.RDMA == api.RDMAReady || is.RDMA == api.RDMAUnknown || was.RDMA != api.RDMAReady && !s.whole {
		return nil
	}
	for _, e := range is.Ends { // the device may tell it sooner than the network
		had, d := s.addresses[e.End], now.Device(e.End)
		if len(had) > 0 && d != nil && d.PortState == api.RDMAPortActive && d.GIDs != nil && !hasAny(d.GIDs, had) {
			return lost(e, had[0])
		}
	}
	return cause(api.ReasonRDMANotReady, subject, "RDMA is no longer ready over the cable %s.", name)
}

// addressesOf are the IPv4 addresses of an interface; false where nobody tells.
func addressesOf(n *api.Network, name string) (all []netip.Addr, known bool) {
	i, known := interfaceCalled(n, name)
	for _, a := range i.Addresses {
		if is := a.Address.Addr().Unmap(); is.Is4() {
			all = append(all, is)
		}
	}
	return all, known
}

// hasAny reports whether one of the addresses is among those of a port.
func hasAny(gids []api.GID, addresses []netip.Addr) bool {
	return slices.ContainsFunc(gids, func(g api.GID) bool { return slices.Contains(addresses, g.Address.Unmap()) })
}

// differs reports whether both are known and not the same.
func differs(a, b *int64) bool { return a != nil && b != nil && *a != *b }

// speeds are a cable's for people: one, where both directions are alike.
func speeds(c api.Cable) string {
	text := func(bits *int64) string {
		if bits == nil {
			return "?"
		}
		return strconv.FormatFloat(float64(*bits)/1e9, 'f', -1, 64)
	}
	forward, backward := text(c.ForwardBitsPerS), text(c.BackwardBitsPerS)
	if forward == backward {
		return forward + " Gb/s"
	}
	return forward + "/" + backward + " Gb/s"
}

// linkName is a cable for people: mac-studio:3 - mbp:1.
func linkName(l api.LinkID, name func(api.NodeID) string) string {
	end := func(e api.LinkEnd) string { return name(e.Node) + ":" + e.PortNumber.String() }
	return end(l.Low) + " - " + end(l.High)
}

// cause makes a cause with a message of its own; the remedy is the table's.
func cause(reason api.Reason, subject, format string, args ...any) *api.Cause {
	info, _ := api.LookupReason(reason)
	return &api.Cause{Reason: reason, Subject: subject, Message: fmt.Sprintf(format, args...), Remedy: info.Remedy}
}
