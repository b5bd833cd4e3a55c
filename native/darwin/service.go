package darwin

import (
	"cmp"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"

	"fulmen/native"
)

// Flags of an IPv6 address, as in6_var.h numbers them.
const (
	flagTentative int64 = 0x02
	flagAutomatic int64 = 0x40
)

// servicesOf tells the services of the current set, in the user's order.
func servicesOf(in networkSources, unknown *native.Reasons) []native.NetworkService {
	if in.storedErr != nil {
		unknown.Add("services", whyNot(in.storedErr))
		return nil
	}
	set := listMap(in.stored, "sets", strings.TrimPrefix(listText(in.stored, "current_set"), "/Sets/"))
	all := listMap(in.stored, "services")
	ids := slices.Sorted(maps.Keys(listMap(set, "Network", "Service")))
	order := listTexts(listMap(set, "Network", "Global", "IPv4")["ServiceOrder"])
	place := func(id string) int {
		if n := slices.Index(order, id); n >= 0 {
			return n
		}
		return len(order) // those without a place come last
	}
	slices.SortStableFunc(ids, func(a, b string) int { return cmp.Compare(place(a), place(b)) })
	services := []native.NetworkService{}
	for _, id := range ids {
		if of := listMap(all, id); of != nil {
			services = append(services, serviceOf(id, of))
		}
	}
	return services
}

func serviceOf(id string, of map[string]any) native.NetworkService {
	ipv4 := listMap(of, "IPv4")
	s := native.NetworkService{
		ID: id, Name: listText(of, "UserDefinedName"), Interface: listText(of, "Interface", "DeviceName"),
		// What was switched off is marked; what is on is not.
		Enabled: !listTrue(of["__INACTIVE__"]), IPv4: native.OriginUnknown,
	}
	if listTrue(ipv4["__INACTIVE__"]) {
		return s
	}
	switch listText(ipv4, "ConfigMethod") {
	case "Manual":
		s.IPv4, s.Addresses = native.OriginManual, prefixes(ipv4)
	case "DHCP", "BOOTP", "INFORM":
		s.IPv4 = native.OriginDHCP
	case "LinkLocal":
		s.IPv4 = native.OriginLinkLocal
	}
	return s
}

// prefixes are the addresses of a configuration with their masks.
func prefixes(ipv4 map[string]any) []netip.Prefix {
	masks := listTexts(ipv4["SubnetMasks"])
	var out []netip.Prefix
	for i, text := range listTexts(ipv4["Addresses"]) {
		address, err := netip.ParseAddr(text)
		if err != nil || i >= len(masks) {
			continue
		}
		mask := net.ParseIP(masks[i]).To4()
		if bits, size := net.IPMask(mask).Size(); mask != nil && size == 32 {
			out = append(out, netip.PrefixFrom(address, bits))
		}
	}
	return out
}

// addressesOf tells an interface's addresses, and how each came there.
func addressesOf(in networkSources, i kernelInterface) []native.InterfaceAddress {
	flags := flagsOf(in.store, i.Name)
	manual, dhcp := configuredOf(in.store, i.Name)
	out := []native.InterfaceAddress{}
	for _, p := range i.Addresses {
		address := p.Addr().WithZone("")
		a := native.InterfaceAddress{Address: netip.PrefixFrom(address, p.Bits()), Origin: native.OriginUnknown}
		switch {
		case slices.Contains(manual, address):
			a.Origin = native.OriginManual
		case address.IsLinkLocalUnicast():
			a.Origin = native.OriginLinkLocal
		case address.Is4() && dhcp:
			a.Origin = native.OriginDHCP
		case flags[address]&flagAutomatic != 0:
			a.Origin = native.OriginAutomatic
		}
		a.Tentative = flags[address]&flagTentative != 0
		out = append(out, a)
	}
	return out
}

// flagsOf are the flags of an interface's IPv6 addresses.
func flagsOf(store map[string]any, name string) map[netip.Addr]int64 {
	ipv6 := listMap(store["State:/Network/Interface/"+name+"/IPv6"])
	values, _ := ipv6["Flags"].([]any)
	flags := map[netip.Addr]int64{}
	for i, text := range listTexts(ipv6["Addresses"]) {
		if address, err := netip.ParseAddr(text); err == nil && i < len(values) {
			flags[address.WithZone("")], _ = values[i].(int64)
		}
	}
	return flags
}

// configuredOf are the manual addresses of the services of an interface, and
// whether one of them asks a DHCP server.
func configuredOf(store map[string]any, name string) (manual []netip.Addr, dhcp bool) {
	for key, value := range store {
		id, ok := strings.CutPrefix(key, "Setup:/Network/Service/")
		id, is := strings.CutSuffix(id, "/Interface")
		if !ok || !is || listText(value, "DeviceName") != name {
			continue
		}
		for _, family := range []string{"/IPv4", "/IPv6"} {
			configuration := listMap(store["Setup:/Network/Service/"+id+family])
			if listText(configuration, "ConfigMethod") == "Manual" {
				for _, text := range listTexts(configuration["Addresses"]) {
					if address, err := netip.ParseAddr(text); err == nil {
						manual = append(manual, address)
					}
				}
			}
		}
		dhcp = dhcp || listText(store["Setup:/Network/Service/"+id+"/IPv4"], "ConfigMethod") == "DHCP"
	}
	return manual, dhcp
}
