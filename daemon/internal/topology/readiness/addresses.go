package readiness

import (
	"net/netip"
	"slices"

	"fulmen/daemon/api"
)

// iface is the interface of the port in the network document; the reason where it
// is not to be found.
func (e *End) iface() (*api.Interface, api.Reason) {
	name := e.Interface
	if d := e.device(); name == "" && d != nil {
		name = d.Interface
	}
	switch {
	case name == "":
		return nil, why(e.PortUnknown, "interface")
	case e.Network == nil:
		return nil, api.ReasonNotYetRead
	}
	for i := range e.Network.Interfaces {
		if e.Network.Interfaces[i].Name == name {
			return &e.Network.Interfaces[i], ""
		}
	}
	return nil, api.ReasonSourceGone
}

// bridges are the bridge that an interface belongs to now, and the one that the
// stored settings have it in.
func (e *End) bridges(i *api.Interface) (now, stored string) {
	now, stored = i.Bridge, i.BridgeConfigured
	for j := range e.Network.Interfaces {
		if b := &e.Network.Interfaces[j]; now == "" && b.Type == api.InterfaceBridge && slices.Contains(b.Members, i.Name) {
			now = b.Name
		}
	}
	return now, stored
}

// checkNoBridge asks whether the port's interface is a member of a bridge. One that
// is so only by the stored settings works until the next start.
func checkNoBridge(_ *Cable, own *End) finding {
	i, reason := own.iface()
	if i == nil {
		return unknown(reason, "Whether %s belongs to the Thunderbolt Bridge is not known.", own.port())
	}
	now, stored := own.bridges(i)
	switch {
	case now != "":
		return no(api.RDMACanEnable, api.ReasonInBridge, "%s belongs to the Thunderbolt Bridge (%s), and RDMA needs the port for itself.", own.port(), now).
			do("Enabling RDMA on the cable takes it out.")
	case stored != "":
		return no(api.RDMAReady, api.ReasonInBridge, "%s is out of the Thunderbolt Bridge (%s) only until %s starts the next time.", own.port(), stored, own.Name).
			do("Enabling RDMA on the cable takes it out for good.").advised()
	}
	return yes("%s belongs to no bridge.", own.port())
}

// checkNoLoop asks whether frames run round in a ring of bridged cables.
func checkNoLoop(c *Cable) finding {
	switch len(c.Loop) {
	case 0:
	case 1:
		return no(api.RDMACanEnable, api.ReasonBridgeLoop, "The cable joins the Thunderbolt Bridge of %s with itself: what is sent there runs round without end.", c.Loop[0]).
			do("Enabling RDMA on the cable takes it out of the bridge; or unplug it.")
	case 2:
		return no(api.RDMACanEnable, api.ReasonBridgeLoop, "Two cables or more join the Thunderbolt Bridges of %s: what is sent there runs round without end.", listed(c.Loop)).
			do("Enabling RDMA on the cables takes them out of the bridge; or leave only one.")
	default:
		return no(api.RDMACanEnable, api.ReasonBridgeLoop, "The cables between the Thunderbolt Bridges of %s form a ring: what is sent there runs round without end.", listed(c.Loop)).
			do("Enabling RDMA on the cables takes them out of the bridge; or unplug one of them.")
	}
	for _, e := range c.ends() {
		if i, reason := e.iface(); i == nil {
			return unknown(reason, "Whether bridged cables form a ring is not known.").after()
		}
	}
	if c.High == nil {
		return unknown(api.ReasonPeerUnknown, "Whether bridged cables form a ring is not known.").after()
	}
	return yes("No ring of bridged cables goes through this one.")
}

// checkIPv4GID asks for the address from which programs make their connections. Of
// two ends with different networks neither finds the other.
func checkIPv4GID(c *Cable, own *End) finding {
	if f, missing := noDevice(c, own, "has no address for RDMA"); missing {
		return f
	}
	d := own.device()
	if d.GIDs == nil {
		return unknown(why(own.RDMAUnknown, "device.gids"), "the addresses of %s for RDMA are not known.", own.port())
	}
	at := slices.IndexFunc(d.GIDs, func(g api.GID) bool { return g.Address.Is4In6() })
	if at < 0 {
		if own.Change != nil && own.Change.State == api.RDMAChangeActive {
			return no(api.RDMACanEnable, api.ReasonRDMANoIPv4GID, "%s has lost the address that Fulmen gave it.", own.port()).
				do("Fulmen restores it by itself; if it does not come back, replug the cable.")
		}
		return no(api.RDMACanEnable, api.ReasonRDMANoIPv4GID, "%s has no IPv4 address, from which RDMA connections are made.", own.port()).
			do("Enabling RDMA on the cable gives it one that stays.")
	}
	address := d.GIDs[at].Address.Unmap()
	if other := c.other(own); other != nil && !meets(own, other) {
		return no(api.RDMACanEnable, api.ReasonRDMANoIPv4GID, "%s has the address %s, which is in another network than that of %s.", own.port(), address, other.Name).
			do("Enabling RDMA on the cable gives both ends addresses that fit.")
	}
	return yes("%s has the address %s.", own.port(), address)
}

// servicesInWay puts in the place of the check of addresses that an end of a cable that
// could be enabled has a network service of somebody's, which Fulmen does not touch. It
// gives the verdict then.
func servicesInWay(c *Cable, found []finding) api.RDMAVerdict {
	verdict := api.RDMACanEnable
	for _, e := range c.ends() {
		i, _ := e.iface()
		if i == nil || i.Service == nil || !i.Service.Active || i.Service.Ours {
			continue
		}
		for k := range found {
			if f := &found[k]; f.Check == api.CheckIPv4GID && f.End == e.End {
				verdict = api.RDMANeedsPerson
				*f = no(verdict, api.ReasonRDMAServiceInWay, "%s has the network service %q (%s), which Fulmen did not make, and RDMA needs one of its own there.", e.port(), i.Service.Name, i.Name).
					do("Remove that service on %s in System Settings, Network; then enable RDMA.", e.Name)
				f.Check, f.End = api.CheckIPv4GID, e.End
			}
		}
	}
	return verdict
}

// meets reports whether two ends have IPv4 addresses in one network, as far as that
// is told.
func meets(a, b *End) bool {
	mine, theirs := networks(a), networks(b)
	if len(mine) == 0 || len(theirs) == 0 {
		return true
	}
	for _, x := range mine {
		for _, y := range theirs {
			if x.Contains(y.Addr()) && y.Contains(x.Addr()) {
				return true
			}
		}
	}
	return false
}

// networks are the IPv4 addresses of the port's interface that are in its device's
// table as well.
func networks(e *End) []netip.Prefix {
	i, _ := e.iface()
	d := e.device()
	if i == nil || d == nil {
		return nil
	}
	var out []netip.Prefix
	for _, a := range i.Addresses {
		bare := a.Address.Addr().Unmap()
		in := func(g api.GID) bool { return g.Address.Is4In6() && g.Address.Unmap() == bare }
		if slices.ContainsFunc(d.GIDs, in) {
			out = append(out, netip.PrefixFrom(bare, min(a.Address.Bits(), bare.BitLen())))
		}
	}
	return out
}
