package darwin

import (
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"

	"fulmen/native"
)

// kernelInterface is an interface as the kernel has it.
type kernelInterface struct {
	Name     string
	Index    int
	Hardware string
	MTUBytes int64
	// Up is switched on; Running is the driver's word that something answers.
	Up, Running, Loopback, PointToPoint bool
	Addresses                           []netip.Prefix
	AddressesErr                        error // why there are none
}

// networkSources are what the network is told from. An error is why the source is
// silent; the rest is told all the same.
type networkSources struct {
	interfaces    []kernelInterface
	store         map[string]any
	storeErr      error
	stored        map[string]any
	storedErr     error
	known         []any
	ports         tree
	speeds        []entry
	bridgeMembers func(bridge string) ([]string, error)
}

// network tells the interfaces, bridges and services.
func network(in networkSources) *native.Network {
	n := native.Network{Interfaces: []native.Interface{}}
	types := typesOf(in)
	portNumbers := portNumbersOf(in.ports)
	for _, i := range in.interfaces {
		n.Interfaces = append(n.Interfaces, interfaceOf(in, i, types[i.Name], portNumbers[i.Name]))
	}
	slices.SortFunc(n.Interfaces, func(a, b native.Interface) int { return strings.Compare(a.Name, b.Name) })
	n.Services = servicesOf(in, &n.Unknown)
	n.Bridges = bridgesOf(in, types, &n.Unknown)
	switch primary := primaryOf(in.store); {
	case in.storeErr != nil:
		n.Unknown.Add("primary_interface", whyNot(in.storeErr))
	case primary == "":
		n.Unknown.Add("primary_interface", native.ReasonNotConnected)
	default:
		n.PrimaryInterface = primary
	}
	return &n
}

func primaryOf(store map[string]any) string {
	for _, family := range []string{"IPv4", "IPv6"} {
		if name := listText(store["State:/Network/Global/"+family], "PrimaryInterface"); name != "" {
			return name
		}
	}
	return ""
}

// systemType is what SystemConfiguration says of an interface.
type systemType struct{ kind, displayName string }

func typesOf(in networkSources) map[string]systemType {
	types := map[string]systemType{}
	for _, element := range in.known {
		if name := listText(element, "name"); name != "" {
			types[name] = systemType{listText(element, "type"), listText(element, "display_name")}
		}
	}
	return types
}

// portNumbersOf gives the receptacle of each interface that has one.
func portNumbersOf(ports tree) map[string]int {
	out := map[string]int{}
	for _, ip := range ports.roots(kindIPPort) {
		n, ok := portNumber(ip.properties["IOLocation"])
		if i := portInterface(ports, ip); ok && i != nil {
			if name, reported := i.text("BSD Name"); reported {
				out[name] = n
			}
		}
	}
	return out
}

func interfaceOf(in networkSources, i kernelInterface, of systemType, portNumber int) native.Interface {
	link := listMap(in.store["State:/Network/Interface/"+i.Name+"/Link"])
	out := native.Interface{
		Name: i.Name, Type: typeOf(in, i, of, portNumber), DisplayName: of.displayName, Index: i.Index,
		HardwareAddress: i.Hardware, Up: new(i.Up), Link: new(i.Running), MTUBytes: new(i.MTUBytes),
	}
	if active, reported := link["Active"]; reported {
		out.Link = new(listTrue(active))
	}
	if portNumber != 0 {
		out.PortNumber = new(portNumber)
	}
	switch {
	case link != nil:
		out.Expensive = new(listTrue(link["Expensive"]))
	case in.storeErr != nil:
		out.Unknown.Add("expensive", whyNot(in.storeErr))
	default:
		out.Unknown.Add("expensive", native.ReasonNoOS.With("no link state of this interface"))
	}
	setSpeed(in, &out)
	if i.AddressesErr != nil {
		out.Unknown.Add("addresses", native.ReasonReadFailed.With(i.AddressesErr.Error()))
		return out
	}
	out.Addresses = addressesOf(in, i)
	return out
}

// typeOf never guesses: the registry says what is Thunderbolt, SystemConfiguration
// what else there is, the kernel what has one other end only.
func typeOf(in networkSources, i kernelInterface, of systemType, portNumber int) native.InterfaceType {
	switch {
	case i.Loopback:
		return native.InterfaceLoopback
	case portNumber != 0:
		return native.InterfaceThunderbolt
	case of.kind == "Bridge" || listMap(in.stored, "virtual", "Bridge", i.Name) != nil:
		return native.InterfaceBridge
	case of.kind == "IEEE80211":
		return native.InterfaceWiFi
	case of.kind == "Ethernet":
		return native.InterfaceEthernet
	case i.PointToPoint:
		return native.InterfaceVPN
	}
	return native.InterfaceUnknown
}

// setSpeed takes what the driver says. Of a receptacle it says nothing of use: the
// port's own link is the number.
func setSpeed(in networkSources, out *native.Interface) {
	for i := range in.speeds {
		if name, _ := in.speeds[i].text("BSD Name"); name != out.Name {
			continue
		}
		speed, ok := in.speeds[i].properties["^IOLinkSpeed"].(int64)
		switch {
		case out.Type == native.InterfaceThunderbolt || !ok:
		case speed <= 0 || !*out.Link:
			out.Unknown.Add("speed_bits_per_s", native.ReasonNotConnected)
			return
		default:
			out.SpeedBitsPerS = new(speed)
			return
		}
	}
	out.Unknown.Add("speed_bits_per_s", native.ReasonNoOS.With("its driver does not say"))
}

// bridgesOf tells what the kernel runs and what is stored beside each other.
func bridgesOf(in networkSources, types map[string]systemType, unknown *native.Reasons) []native.Bridge {
	stored := listMap(in.stored, "virtual", "Bridge")
	names := map[string]bool{}
	for name := range stored {
		names[name] = false
	}
	for _, i := range in.interfaces {
		if _, is := stored[i.Name]; is || types[i.Name].kind == "Bridge" {
			names[i.Name] = true // the kernel has it
		}
	}
	if in.storedErr != nil && len(names) == 0 {
		unknown.Add("bridges", whyNot(in.storedErr))
		return nil
	}
	bridges := []native.Bridge{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		b := native.Bridge{Name: name}
		if list, there := stored[name]; there {
			b.StoredMembers = listTexts(listMap(list)["Interfaces"])
		} else {
			b.Unknown.Add("stored_members", native.ReasonSourceGone.With("not in the stored configuration"))
		}
		setKernelMembers(in, &b, names[name])
		if link := listMap(in.store["State:/Network/Interface/"+name+"/Link"]); link != nil {
			b.Active = new(listTrue(link["Active"]))
		} else {
			b.Unknown.Add("active", native.ReasonSourceGone.With("no link state of this bridge"))
		}
		bridges = append(bridges, b)
	}
	return bridges
}

func setKernelMembers(in networkSources, b *native.Bridge, running bool) {
	if !running {
		b.Unknown.Add("kernel_members", native.ReasonSourceGone.With("the kernel has no such bridge"))
		return
	}
	members, err := in.bridgeMembers(b.Name)
	if err != nil {
		b.Unknown.Add("kernel_members", whyNot(err))
		return
	}
	b.KernelMembers = append([]string{}, members...)
}

// kernelInterfaces asks the kernel through Go.
func kernelInterfaces() ([]kernelInterface, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	out := make([]kernelInterface, len(all))
	for n, i := range all {
		out[n] = kernelInterface{
			Name: i.Name, Index: i.Index, Hardware: i.HardwareAddr.String(), MTUBytes: int64(i.MTU),
			Up: i.Flags&net.FlagUp != 0, Running: i.Flags&net.FlagRunning != 0,
			Loopback: i.Flags&net.FlagLoopback != 0, PointToPoint: i.Flags&net.FlagPointToPoint != 0,
		}
		var addresses []net.Addr
		addresses, out[n].AddressesErr = i.Addrs()
		for _, a := range addresses {
			if p, err := netip.ParsePrefix(a.String()); err == nil {
				out[n].Addresses = append(out[n].Addresses, p)
			}
		}
	}
	return out, nil
}
