package rdma

import (
	"context"
	"net/netip"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rdma/change"
	"fulmen/native"
)

// read reads what this machine has of an interface.
func (o *Owner) read(ctx context.Context, iface string) (change.Found, native.Snapshot, error) {
	snapshot, err := o.cfg.Facts.Snapshot(ctx, native.AreaNetwork, native.AreaRDMA)
	if err != nil {
		return change.Found{}, snapshot, err
	}
	if snapshot.Network == nil {
		return change.Found{}, snapshot, api.Errorf(api.ReasonNotYetRead, iface, "The network of %s cannot be read: %s.",
			o.cfg.Name(o.cfg.Node), snapshot.Unknown[string(native.AreaNetwork)])
	}
	return foundIn(*snapshot.Network, iface), snapshot, nil
}

// foundIn is what a network has of an interface.
func foundIn(n native.Network, iface string) change.Found {
	f := change.Found{Interface: iface}
	if i, present := n.Interface(iface); present {
		f.Present = true
		for _, a := range i.Addresses {
			if a.Address.Addr().Is4() && !a.Tentative {
				f.Addresses = append(f.Addresses, a.Address)
			}
		}
	}
	for _, b := range n.Bridges {
		m := change.Membership{Bridge: b.Name, Kernel: slices.Contains(b.KernelMembers, iface), Stored: slices.Contains(b.StoredMembers, iface)}
		if b.StoredMembers == nil && b.Unknown["stored_members"] != "" {
			m.Stored = m.Kernel // nothing is stored: what runs is all there is
		}
		f.Bridges = append(f.Bridges, m)
	}
	for _, s := range n.Services {
		if s.Interface == iface {
			f.Services = append(f.Services, serviceFrom(s))
		}
	}
	return f
}

func serviceFrom(s native.NetworkService) change.Service {
	return change.Service{
		ID: s.ID, Name: s.Name, Interface: s.Interface, Enabled: s.Enabled, IPv4: string(s.IPv4), Addresses: slices.Clone(s.Addresses),
	}
}

func serviceTo(s change.Service) native.NetworkService {
	return native.NetworkService{
		ID: s.ID, Name: s.Name, Interface: s.Interface, Enabled: s.Enabled, IPv4: native.AddressOrigin(s.IPv4), Addresses: slices.Clone(s.Addresses),
	}
}

// taken are the networks that this machine uses: those of its interfaces, of its
// services that are switched off or not connected, and of changes that are planned.
func (o *Owner) taken(n native.Network, without api.LinkID) []netip.Prefix {
	var all []netip.Prefix
	for _, i := range n.Interfaces {
		for _, a := range i.Addresses {
			if !a.Address.Addr().Is4() {
				continue
			}
			one := a.Address
			if a.Origin == native.OriginLinkLocal {
				one = netip.PrefixFrom(one.Addr(), 16) // a self-assigned address takes itself alone
			}
			all = append(all, one)
		}
	}
	for _, s := range n.Services {
		all = append(all, s.Addresses...)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, p := range o.parts {
		if p.record.Link != without && p.record.State != api.RDMAChangeUndone && p.record.Address.IsValid() {
			all = append(all, p.record.Address)
		}
	}
	return all
}

// interfaceOf is the network interface of a receptacle.
func (o *Owner) interfaceOf(ctx context.Context, portNumber api.PortNumber) (string, *api.Error) {
	snapshot, err := o.cfg.Facts.Snapshot(ctx, native.AreaThunderbolt)
	if err != nil {
		return "", o.faultOf(ctx, err)
	}
	end := api.LinkEnd{Node: o.cfg.Node, PortNumber: portNumber}
	if snapshot.Thunderbolt != nil {
		if port, found := snapshot.Thunderbolt.Port(int(portNumber)); found && port.Interface != "" {
			return port.Interface, nil
		}
	}
	return "", api.Errorf(api.ReasonRDMANoDevice, end.String(), "Port %s of %s has no network interface.", portNumber, o.cfg.Name(o.cfg.Node))
}
