package facts

import (
	"cmp"
	"slices"
	"strconv"

	"fulmen/daemon/api"
	"fulmen/native"
)

// thunderbolt makes the value of one receptacle's document.
func thunderbolt(from native.Port) (api.Thunderbolt, map[string]api.Reason) {
	to := api.Thunderbolt{
		Receptacle: api.Receptacle(from.Receptacle), Place: from.Place, BesideEthernet: from.BesideEthernet,
		DomainUUID: from.DomainUUID, Capability: api.ThunderboltGeneration(from.Capability), Interface: from.Interface,
	}
	why := reasons(from.Unknown, to)
	switch from.Status {
	case native.PortEmpty:
		to.Connected = new(false)
	case native.PortDevice, native.PortPeer:
		to.Connected = new(true)
	default:
		why["connected"] = reasonOr(from.Unknown, "status")
	}
	if from.Status == native.PortEmpty {
		// An idle port can keep its lanes trained; with nobody.
		why["negotiated"] = api.ReasonNotConnected
	} else {
		to.Negotiated = speed(from.Negotiated, from.Capability, "negotiated", why)
	}
	for _, hub := range parentsFirst(from.Hubs) {
		to.Hubs = append(to.Hubs, hubOf(hub, from, why))
	}
	peers := slices.SortedFunc(slices.Values(from.Peers), func(a, b native.Peer) int {
		return cmp.Or(cmp.Compare(a.Hub, b.Hub), cmp.Compare(a.DomainUUID, b.DomainUUID), cmp.Compare(a.Name, b.Name))
	})
	for i, peer := range peers {
		to.Peers = append(to.Peers, peerOf(i, peer, from, why))
	}
	return to, why
}

// hubOf makes one hub. The speed of one that hangs on the port is the port's.
func hubOf(from native.Hub, port native.Port, why map[string]api.Reason) api.ThunderboltHub {
	to := api.ThunderboltHub{Route: from.Route, Parent: from.Parent, Vendor: from.Vendor, Name: from.Name}
	prefix := "hubs." + from.Route + "."
	addReasons(why, prefix, from.Unknown, to)
	delete(why, prefix+"negotiated")
	if from.Parent != "" {
		missing(why, prefix+"negotiated", from.Unknown, "negotiated")
		to.Negotiated = speed(from.Negotiated, port.Capability, prefix+"negotiated", why)
	}
	return to
}

// peerOf makes one peer. Its speed, where no hub is between, is the port's.
func peerOf(number int, from native.Peer, port native.Port, why map[string]api.Reason) api.ThunderboltPeer {
	to := api.ThunderboltPeer{DomainUUID: from.DomainUUID, Name: from.Name, Vendor: from.Vendor, Hub: from.Hub}
	prefix := "peers." + cmp.Or(from.DomainUUID, strconv.Itoa(number)) + "."
	addReasons(why, prefix, from.Unknown, to)
	delete(why, prefix+"negotiated")
	if from.Hub != "" {
		missing(why, prefix+"negotiated", from.Unknown, "negotiated")
		to.Negotiated = speed(from.Negotiated, port.Capability, prefix+"negotiated", why)
	}
	if from.Services == nil {
		return to
	}
	to.Services = []api.ThunderboltService{}
	for _, service := range from.Services {
		word := api.ServiceOther
		switch service.ProtocolID {
		case native.ProtocolIP:
			word = api.ServiceIP
		case native.ProtocolRDMA:
			word = api.ServiceRDMA
		}
		to.Services = append(to.Services, word)
	}
	slices.Sort(to.Services)
	to.Services = slices.Compact(to.Services)
	return to
}

// speed makes a negotiated speed. Where there is none, why has the reason under
// the field's name.
func speed(from *native.Link, port native.ThunderboltVersion, field string, why map[string]api.Reason) *api.ThunderboltSpeed {
	switch {
	case from == nil:
		if why[field] == "" {
			why[field] = api.ReasonNotYetRead
		}
		return nil
	case from.State != native.LinkUp:
		why[field] = api.ReasonLinkDown
		return nil
	}
	delete(why, field)
	return &api.ThunderboltSpeed{
		TxBitsPerS: from.TxBitsPerS, RxBitsPerS: from.RxBitsPerS, TxLanes: from.TxLanes, RxLanes: from.RxLanes,
		Generation: signalled(from.Generation, port),
	}
}

// signalled gives the rate of a lane the name that people know. Thunderbolt 3
// and 4 both use lanes of 20 Gb/s: then it is the newer one that the port can do,
// and not told where the port does not tell.
func signalled(lanes native.Generation, port native.ThunderboltVersion) api.ThunderboltGeneration {
	switch lanes {
	case native.Gen4:
		return api.Thunderbolt5
	case native.Gen2:
		return api.Thunderbolt3
	case native.Gen3:
		switch port {
		case native.TB4, native.TB5:
			return api.Thunderbolt4
		case native.TB3:
			return api.Thunderbolt3
		}
	}
	return ""
}

// parentsFirst orders hubs so that each comes after the one it hangs on, and
// alike however the system listed them. What hangs on nothing that is listed, or
// on itself, comes last: the facts were torn, and the next reading mends them.
func parentsFirst(hubs []native.Hub) []native.Hub {
	rest := slices.SortedFunc(slices.Values(hubs), func(a, b native.Hub) int { return cmp.Compare(a.Route, b.Route) })
	ordered := make([]native.Hub, 0, len(rest))
	placed := map[string]bool{"": true}
	for len(rest) > 0 {
		at := slices.IndexFunc(rest, func(h native.Hub) bool { return placed[h.Parent] })
		if at < 0 {
			return append(ordered, rest...)
		}
		placed[rest[at].Route] = true
		ordered = append(ordered, rest[at])
		rest = slices.Delete(rest, at, at+1)
	}
	return ordered
}
