package facts

import (
	"fulmen/daemon/api"
	"fulmen/native"
)

// network makes the value of the network document. Hardware addresses stay on
// the machine. Where the network does not tell the receptacle of an interface,
// the ports may.
func network(from native.Network, ports *native.Thunderbolt) (api.Network, map[string]api.Reason) {
	to := api.Network{Interfaces: []api.Interface{}, PrimaryInterface: from.PrimaryInterface}
	why := reasons(from.Unknown, to)
	for _, i := range from.Interfaces {
		one := api.Interface{
			Name: i.Name, DisplayName: i.DisplayName, Type: api.InterfaceType(i.Type), Up: i.Up != nil && *i.Up, Link: i.Link,
			MTUBytes: i.MTUBytes, SpeedBitsPerS: i.SpeedBitsPerS, Expensive: i.Expensive,
		}
		one.Receptacle = receptacleOf(i, ports)
		for _, a := range i.Addresses {
			address := api.InterfaceAddress{Address: a.Address, Tentative: a.Tentative}
			if a.Origin != native.OriginUnknown {
				address.Origin = api.AddressOrigin(a.Origin)
			}
			one.Addresses = append(one.Addresses, address)
		}
		bridges(&one, from.Bridges)
		for _, service := range from.Services {
			if service.Interface == i.Name {
				one.Service = &api.NetworkService{ID: service.ID, Name: service.Name, Active: service.Enabled}
			}
		}
		addReasons(why, "interfaces."+i.Name+".", i.Unknown, one)
		to.Interfaces = append(to.Interfaces, one)
	}
	return to, why
}

// bridges notes an interface's place in bridges, or a bridge's members.
func bridges(one *api.Interface, all []native.Bridge) {
	for _, bridge := range all {
		if bridge.Name == one.Name {
			one.Members = bridge.KernelMembers
		}
		for _, member := range bridge.KernelMembers {
			if member == one.Name {
				one.Bridge = bridge.Name
			}
		}
		for _, member := range bridge.StoredMembers {
			if member == one.Name {
				one.BridgeConfigured = bridge.Name
			}
		}
	}
}

// receptacleOf is the Thunderbolt receptacle behind an interface; 0 where there
// is none.
func receptacleOf(i native.Interface, ports *native.Thunderbolt) api.Receptacle {
	if i.Receptacle != nil {
		return api.Receptacle(*i.Receptacle)
	}
	if ports == nil || i.Name == "" {
		return 0
	}
	for _, port := range ports.Ports {
		if port.Interface == i.Name {
			return api.Receptacle(port.Receptacle)
		}
	}
	return 0
}
