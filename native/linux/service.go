package linux

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"fulmen/native"
)

// Linux has no network services. What stands for one here is an address with a label
// that only Fulmen gives: both come and go in one message to the kernel, are gone
// with the interface and with the system, and show with ip-address(8).
const (
	// serviceName is how the names of such services begin; a number follows.
	serviceName = "Fulmen Thunderbolt "
	// serviceMark stands between the interface's name and that number in the label.
	serviceMark = ":f"
	// maxLabel is the longest label that the kernel takes.
	maxLabel = 15
)

// serviceLabel is the label by which the kernel keeps a service's name.
func serviceLabel(iface, name string) (string, error) {
	number, isOurs := strings.CutPrefix(name, serviceName)
	if n, err := strconv.ParseUint(number, 10, 8); !isOurs || err != nil || number != strconv.FormatUint(n, 10) {
		return "", fmt.Errorf("name: %q is not %q followed by a number", name, serviceName)
	}
	label := iface + serviceMark + number
	if len(label) > maxLabel {
		return "", fmt.Errorf("interface: %s is too long for a label", iface)
	}
	return label, nil
}

// nameOfLabel is the name of the service that has a label; false for any other label.
func nameOfLabel(iface, label string) (string, bool) {
	number, isOurs := strings.CutPrefix(label, iface+serviceMark)
	name := serviceName + number
	made, err := serviceLabel(iface, name)
	return name, isOurs && err == nil && made == label
}

// services are Fulmen's own, by the labels of addresses, in the order of the links.
func (t tables) services() []native.NetworkService {
	var out []native.NetworkService
	for _, l := range t.Links {
		for _, a := range t.Addresses {
			name, isOurs := nameOfLabel(l.Name, a.Label)
			if a.Index != l.Index || !a.Address.Addr().Is4() || !isOurs {
				continue
			}
			id := a.Label + "#" + strconv.Itoa(l.Index) // an interface that comes again has another number
			at := slices.IndexFunc(out, func(s native.NetworkService) bool { return s.ID == id })
			if at < 0 {
				at = len(out)
				out = append(out, native.NetworkService{ID: id, Name: name, Interface: l.Name, Enabled: true, IPv4: native.OriginManual, Addresses: []netip.Prefix{}})
			}
			out[at].Addresses = append(out[at].Addresses, a.Address)
		}
	}
	return out
}

// link gives the interface of a name.
func (t tables) link(name string) (link, bool) {
	at := slices.IndexFunc(t.Links, func(l link) bool { return l.Name == name })
	if at < 0 {
		return link{}, false
	}
	return t.Links[at], true
}

// hasIPv4 reports whether an interface has an address of IPv4.
func (t tables) hasIPv4(index int) bool {
	return slices.ContainsFunc(t.Addresses, func(a address) bool { return a.Index == index && a.Address.Addr().Is4() })
}
