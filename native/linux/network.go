package linux

import (
	"cmp"
	"slices"

	"fulmen/native"
)

// network puts the kernel's tables together with what sysfs knows of devices.
func (t tree) network(dump func() (tables, error)) (*native.Network, error) {
	tables, err := dump()
	if err != nil {
		return nil, err
	}
	n := &native.Network{Interfaces: []native.Interface{}, Bridges: []native.Bridge{}}
	slices.SortFunc(tables.Links, func(a, b link) int { return cmp.Compare(a.Index, b.Index) })
	for _, l := range tables.Links {
		n.Interfaces = append(n.Interfaces, t.networkInterface(l, tables.Addresses))
		if l.Kind == "bridge" {
			n.Bridges = append(n.Bridges, bridge(l, tables.Links))
		}
	}
	t.setPortNumbers(n.Interfaces)
	if n.Services = tables.services(); len(n.Services) == 0 {
		n.Unknown.Add("services", native.ReasonNoOS.With("Linux has no list of network services; programs such as NetworkManager keep their own"))
	}
	if n.PrimaryInterface = primary(tables); n.PrimaryInterface == "" {
		n.Unknown.Add("primary_interface", native.ReasonNotConnected.With("no default route"))
	}
	return n, nil
}

// setPortNumbers notes the socket behind each interface over Thunderbolt.
func (t tree) setPortNumbers(interfaces []native.Interface) {
	if !slices.ContainsFunc(interfaces, func(i native.Interface) bool { return i.Type == native.InterfaceThunderbolt }) {
		return
	}
	behind := t.thunderboltBus().portNumberOfInterface()
	for i := range interfaces {
		if number, ok := behind[interfaces[i].Name]; ok && interfaces[i].Type == native.InterfaceThunderbolt {
			interfaces[i].PortNumber = &number
		}
	}
}

func (t tree) networkInterface(l link, addresses []address) native.Interface {
	dev := t.device(l)
	speed := int64(0)
	if dev.present && l.Flags&iffLoopback == 0 { // asking takes a third of the whole reading
		speed = t.speed(l)
	}
	up, carrier := l.Flags&iffUp != 0, l.Flags&iffLowerUp != 0
	i := native.Interface{
		Name: l.Name, Type: interfaceType(l, dev), DisplayName: l.Alias, Index: l.Index, HardwareAddress: l.Address,
		Addresses: []native.InterfaceAddress{}, Up: &up, Link: &carrier, MTUBytes: &l.MTU,
	}
	for _, a := range addresses {
		if a.Index == l.Index {
			i.Addresses = append(i.Addresses, native.InterfaceAddress{
				Address: a.Address, Origin: addressOrigin(a), Tentative: a.Flags&ifaTentative != 0,
			})
		}
	}
	i.Unknown.Add("expensive", native.ReasonNoOS.With("Linux does not report which networks are expensive"))
	switch {
	case !carrier:
		i.Unknown.Add("speed_bits_per_s", native.ReasonNotConnected)
	case speed == 0:
		i.Unknown.Add("speed_bits_per_s", native.ReasonNoOS.With("the driver does not report one"))
	default:
		i.SpeedBitsPerS = &speed
	}
	return i
}

// device is what sysfs says of the device behind an interface.
type device struct {
	present  bool // sysfs shows this very interface
	wireless bool
	driver   string
}

// device reads sysfs, which may show another network namespace than rtnetlink:
// an interface of another number is another one.
func (t tree) device(l link) device {
	folder := "sys/class/net/" + l.Name + "/"
	if index, err := t.number(folder + "ifindex"); err != nil || index != int64(l.Index) {
		return device{}
	}
	if mac, err := t.text(folder + "address"); err != nil || l.Address != "" && mac != l.Address {
		return device{}
	}
	d := device{present: true, wireless: t.exists(folder+"phy80211") || t.exists(folder+"wireless")}
	uevent, _ := t.bytes(folder + "device/uevent")
	d.driver = parseShellVariables(uevent)["DRIVER"]
	return d
}

// speed is what the driver of an interface says, in bits per second; 0 is unknown.
func (t tree) speed(l link) (bitsPerS int64) {
	// In Mbit/s; -1 and 2^32-1 are unknown, and a file that cannot be read is too.
	if megabits, err := t.number("sys/class/net/" + l.Name + "/speed"); err == nil && megabits < 1<<32-1 {
		bitsPerS, _ = scaled(megabits, 1e6)
	}
	return bitsPerS
}

// bridge lists the members that the kernel runs.
func bridge(l link, links []link) native.Bridge {
	b := native.Bridge{Name: l.Name, KernelMembers: []string{}, Active: new(l.Flags&iffUp != 0)}
	for _, member := range links {
		if member.Master == l.Index {
			b.KernelMembers = append(b.KernelMembers, member.Name)
		}
	}
	b.Unknown.Add("stored_members", native.ReasonNoOS.With("Linux stores no bridge members; programs such as NetworkManager keep their own"))
	return b
}

// primary is the interface of the default route that the kernel prefers: IPv4
// before IPv6, then the lowest metric, then the first.
func primary(tables tables) string {
	best := slices.SortedStableFunc(slices.Values(tables.Defaults), func(a, b route) int {
		return cmp.Or(cmp.Compare(a.family(), b.family()), cmp.Compare(a.Metric, b.Metric))
	})
	for _, r := range best {
		i := slices.IndexFunc(tables.Links, func(l link) bool { return l.Index == r.Index })
		if i >= 0 {
			return tables.Links[i].Name
		}
	}
	return ""
}
