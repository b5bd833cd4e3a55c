package systemprofiler

import (
	"fmt"
	"slices"

	"fulmen/native"
	"fulmen/native/networksetup"
)

// WithPorts returns the result with the interface of each port: that of the
// hardware port "Thunderbolt N", where N is the receptacle. A receptacle that
// the list does not have keeps its interface unknown.
func (r Result) WithPorts(ports []networksetup.Port) Result {
	interfaces := map[int]string{}
	r.Notes = slices.Clone(r.Notes)
	for _, p := range ports {
		if p.Receptacle == nil {
			continue
		}
		if other, twice := interfaces[*p.Receptacle]; twice {
			r.Notes = append(r.Notes, fmt.Sprintf("receptacle %d has two interfaces, %s and %s; the second is ignored", *p.Receptacle, other, p.Device))
			continue
		}
		interfaces[*p.Receptacle] = p.Device
	}
	r.Thunderbolt.Ports = slices.Clone(r.Thunderbolt.Ports)
	for i := range r.Thunderbolt.Ports {
		port := &r.Thunderbolt.Ports[i]
		port.Unknown = port.Unknown.Clone()
		name, ok := interfaces[port.Receptacle]
		if !ok {
			port.Interface = ""
			port.Unknown.Add("interface", native.ReasonNoOS.With(fmt.Sprintf("networksetup lists no Thunderbolt %d", port.Receptacle)))
			continue
		}
		port.Interface = name
		delete(port.Unknown, "interface")
	}
	return r
}
