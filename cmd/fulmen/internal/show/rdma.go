package show

import (
	"fmt"
	"strings"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// portRDMA is a port's RDMA in a few words; empty where nothing is told.
func portRDMA(docs []api.Document, end api.LinkEnd) string {
	for _, d := range docs {
		var r api.RDMA
		if d.Node == end.Node && d.Kind == api.KindRDMA && !d.Deleted && d.Decode(&r) == nil && r.Receptacle == end.Receptacle {
			return "RDMA " + rdmaState(r)
		}
	}
	return ""
}

// rdmaState is what stands between a port and RDMA, the first of it; else the
// state of its device.
func rdmaState(r api.RDMA) string {
	no := func(b *bool) bool { return b != nil && !*b }
	switch {
	case no(r.HardwareCapable):
		return "not in this hardware"
	case no(r.OSCapable):
		return "needs a newer system"
	case no(r.SwitchedOn):
		return "off"
	case r.Device != nil:
		return join(" ", string(r.Device.PortState), "("+r.Device.Name+")")
	case r.SwitchedOn != nil:
		return "on, no device"
	}
	return text.Unknown
}

// rdmaChange is what became different about RDMA on a port.
func rdmaChange(a, b api.RDMA) string {
	var out []string
	switch {
	case isSet(b.SwitchedOn) && !isSet(a.SwitchedOn):
		out = append(out, "switched on")
	case isSet(a.SwitchedOn) && b.SwitchedOn != nil && !*b.SwitchedOn:
		out = append(out, "switched off")
	}
	switch x, y := a.Device, b.Device; {
	case x == nil && y == nil:
	case x == nil:
		out = append(out, "device "+y.Name+" appeared"+prefixed(", port ", string(y.PortState)))
	case y == nil:
		out = append(out, "device "+x.Name+" is gone")
	default:
		if x.PortState != y.PortState {
			out = append(out, fmt.Sprintf("%s: port %s, was %s", y.Name, orNone(string(y.PortState)), orNone(string(x.PortState))))
		}
		gained, lost := compare(gids(x), gids(y))
		out = append(out, listed(y.Name+" gained GID ", gained)...)
		out = append(out, listed(y.Name+" lost GID ", lost)...)
	}
	return strings.Join(out, "; ")
}

func gids(d *api.RDMADevice) map[string]bool {
	out := map[string]bool{}
	for _, g := range d.GIDs {
		out[g.Address.String()] = true
	}
	return out
}
