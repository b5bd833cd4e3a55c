package simmac

import (
	"net"
	"net/netip"

	"fulmen/native"
)

// Store makes the keys of the dynamic store.
func Store(s native.Snapshot) map[string]any {
	store := map[string]any{}
	if id := s.Identity; id != nil {
		store["Setup:/System"] = map[string]any{"ComputerName": id.Name}
		store["Setup:/Network/HostNames"] = map[string]any{"LocalHostName": id.HostName}
	}
	n := s.Network
	if n == nil {
		return store
	}
	names := []any{}
	for _, i := range n.Interfaces {
		names = append(names, i.Name)
		addInterfaceKeys(store, i)
	}
	store["State:/Network/Interface"] = map[string]any{"Interfaces": names}
	if n.PrimaryInterface != "" {
		store["State:/Network/Global/IPv4"] = map[string]any{"PrimaryInterface": n.PrimaryInterface}
	}
	order := []any{}
	for _, service := range n.Services {
		order = append(order, service.ID)
		if service.Enabled {
			addService(store, service)
		}
	}
	store["Setup:/Network/Global/IPv4"] = map[string]any{"ServiceOrder": order}
	return store
}

func addInterfaceKeys(store map[string]any, i native.Interface) {
	at := "State:/Network/Interface/" + i.Name
	store[at+"/Link"] = map[string]any{"Active": i.Link != nil && *i.Link, "Expensive": i.Expensive != nil && *i.Expensive}
	var four, masks, six, lengths, flags, manual, manualMasks []any
	dhcp := false
	for _, a := range i.Addresses {
		address := a.Address.Addr()
		if address.Is6() {
			six, lengths = append(six, address.String()), append(lengths, a.Address.Bits())
			flags = append(flags, flagsOf(a))
			continue
		}
		mask := net.IP(net.CIDRMask(a.Address.Bits(), 32)).String()
		four, masks = append(four, address.String()), append(masks, mask)
		if a.Origin == native.OriginManual {
			manual, manualMasks = append(manual, address.String()), append(manualMasks, mask)
		}
		dhcp = dhcp || a.Origin == native.OriginDHCP
	}
	if four != nil {
		store[at+"/IPv4"] = map[string]any{"Addresses": four, "SubnetMasks": masks}
	}
	if six != nil {
		store[at+"/IPv6"] = map[string]any{"Addresses": six, "PrefixLength": lengths, "Flags": flags}
	}
	// Services that no scenario names, so that each address has whoever gave it.
	if manual != nil {
		addService(store, native.NetworkService{ID: "manual-" + i.Name, Interface: i.Name, IPv4: native.OriginManual})
		store["Setup:/Network/Service/manual-"+i.Name+"/IPv4"] = map[string]any{"ConfigMethod": "Manual", "Addresses": manual, "SubnetMasks": manualMasks}
	}
	if dhcp {
		addService(store, native.NetworkService{ID: "dhcp-" + i.Name, Interface: i.Name, IPv4: native.OriginDHCP})
	}
}

func flagsOf(a native.InterfaceAddress) int {
	flags := 0
	if a.Origin == native.OriginAutomatic {
		flags |= 0x40
	}
	if a.Tentative {
		flags |= 0x02
	}
	return flags
}

func addService(store map[string]any, s native.NetworkService) {
	at := "Setup:/Network/Service/" + s.ID
	store[at] = map[string]any{"UserDefinedName": s.Name}
	store[at+"/Interface"] = map[string]any{"DeviceName": s.Interface, "Type": "Ethernet"}
	store[at+"/IPv4"] = ipv4(s)
}

func ipv4(s native.NetworkService) map[string]any {
	switch s.IPv4 {
	case native.OriginManual:
		addresses, masks := []any{}, []any{}
		for _, p := range s.Addresses {
			addresses = append(addresses, p.Addr().String())
			masks = append(masks, net.IP(net.CIDRMask(p.Bits(), 32)).String())
		}
		return map[string]any{"ConfigMethod": "Manual", "Addresses": addresses, "SubnetMasks": masks}
	case native.OriginLinkLocal:
		return map[string]any{"ConfigMethod": "LinkLocal"}
	case native.OriginDHCP:
		return map[string]any{"ConfigMethod": "DHCP"}
	}
	return map[string]any{"__INACTIVE__": 1} // switched off
}

// Stored makes the stored configuration: services, the one set, bridges.
func Stored(n native.Network) map[string]any {
	services, links, order, bridges := map[string]any{}, map[string]any{}, []any{}, map[string]any{}
	for _, s := range n.Services {
		service := map[string]any{
			"UserDefinedName": s.Name, "IPv4": ipv4(s),
			"Interface": map[string]any{"DeviceName": s.Interface, "Type": "Ethernet", "Hardware": "Ethernet"},
		}
		if !s.Enabled {
			service["__INACTIVE__"] = 1
		}
		services[s.ID] = service
		links[s.ID] = map[string]any{"__LINK__": "/NetworkServices/" + s.ID}
		order = append(order, s.ID)
	}
	for _, b := range n.Bridges {
		bridges[b.Name] = map[string]any{"Interfaces": texts(b.StoredMembers), "UserDefinedName": b.Name}
	}
	return map[string]any{
		"CurrentSet":      "/Sets/AUTOMATIC",
		"NetworkServices": services,
		"Sets": map[string]any{"AUTOMATIC": map[string]any{"Network": map[string]any{
			"Service": links, "Global": map[string]any{"IPv4": map[string]any{"ServiceOrder": order}},
		}}},
		"VirtualNetworkInterfaces": map[string]any{"Bridge": bridges},
	}
}

// Interfaces is what SystemConfiguration knows of interfaces.
func Interfaces(n native.Network) []any {
	types := map[native.InterfaceType]string{
		native.InterfaceEthernet: "Ethernet", native.InterfaceThunderbolt: "Ethernet", native.InterfaceWiFi: "IEEE80211", native.InterfaceBridge: "Bridge",
	}
	out := []any{}
	for _, i := range n.Interfaces {
		if kind := types[i.Type]; kind != "" {
			out = append(out, map[string]any{"name": i.Name, "type": kind, "display_name": i.DisplayName})
		}
	}
	return out
}

// Verbs is what the RDMA library lists.
func Verbs(r native.RDMA) []any {
	states := map[native.RDMAPortState]int{native.RDMAPortDown: 1, native.RDMAPortInit: 2, native.RDMAPortArmed: 3, native.RDMAPortActive: 4}
	out := []any{}
	for _, d := range r.Devices {
		gids := []any{}
		for _, g := range d.GIDs {
			for len(gids) < g.Index {
				gids = append(gids, make([]byte, 16))
			}
			raw := netip.AddrFrom16(g.Address.As16()).As16()
			gids = append(gids, raw[:])
		}
		// 4 lanes (8X) of 10 Gb/s, as devices of Thunderbolt 5 say.
		device := map[string]any{"name": d.Name, "state": states[d.PortState], "mtu": 5, "width": 4, "speed": 4, "gids": gids}
		if l := d.Limits; l != nil {
			device["max_qp"], device["max_cq"], device["max_mr"], device["max_pd"] = l.QueuePairs, l.CompletionQueues, l.MemoryRegions, l.ProtectionDomains
		}
		out = append(out, device)
	}
	return out
}

func texts(list []string) []any {
	out := []any{}
	for _, s := range list {
		out = append(out, s)
	}
	return out
}
