package linux

import "fulmen/native"

// interfaceType is what an interface is made of: by what rtnetlink says of it,
// and for hardware by what sysfs says of its device. A virtual kind that says
// nothing of a medium is unknown, and so is a tunnel that hides nothing (ipip,
// gre, sit): only tun, WireGuard, OpenVPN and IPsec interfaces are a VPN's.
func interfaceType(l link, dev device) native.InterfaceType {
	if l.Hardware == hardwareLoopback {
		return native.InterfaceLoopback
	}
	switch l.Kind {
	case "":
	case "bridge":
		return native.InterfaceBridge
	case "tun":
		if l.Hardware == hardwareEther {
			// A tap: an Ethernet port of some program, mostly of a virtual machine.
			return native.InterfaceUnknown
		}
		return native.InterfaceVPN
	case "wireguard", "ovpn", "amneziawg", "vti", "vti6", "xfrm":
		return native.InterfaceVPN
	case "veth", "vlan", "macvlan", "bond", "team":
		// Ethernet by another name, whatever carries it.
		return native.InterfaceEthernet
	default:
		return native.InterfaceUnknown
	}
	switch {
	case l.Hardware != hardwareEther || !dev.present:
		return native.InterfaceUnknown
	case dev.wireless:
		return native.InterfaceWiFi
	case dev.driver == "thunderbolt-net":
		return native.InterfaceThunderbolt
	}
	return native.InterfaceEthernet
}

// addressOrigin is how an address came, as far as the kernel knows. Who added a
// permanent one it does not know.
func addressOrigin(a address) native.AddressOrigin {
	addr := a.Address.Addr()
	switch {
	case addr.Is6() && (a.Protocol == protocolKernelLL || a.Protocol == 0 && addr.IsLinkLocalUnicast()):
		return native.OriginLinkLocal
	case addr.Is6() && (a.Protocol == protocolKernelRA || a.Flags&(ifaTemporary|ifaManageTemp) != 0):
		return native.OriginAutomatic
	case addr.Is4() && a.Lifetime != 0:
		// Only a lease ends.
		return native.OriginDHCP
	}
	return native.OriginUnknown
}
