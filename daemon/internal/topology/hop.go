package topology

import (
	"cmp"
	"slices"

	"fulmen/daemon/api"
)

// hop is one piece of cable on the way, seen from the port that tells it.
type hop struct {
	// tx and rx are the speeds away from the port and towards it, in bits a second; 0 is unknown.
	tx, rx int64
	// generation is the one of its lanes; empty where it is not told.
	generation api.ThunderboltGeneration
	// why is the reason of an unknown speed.
	why api.Reason
}

// maxBitsPerS bounds a speed that is believed, far above any cable's.
const maxBitsPerS = 1_000_000_000_000_000

// hopOf reads a negotiated speed, or the reason why there is none.
func hopOf(s *api.ThunderboltSpeed, why api.Reason) hop {
	if s == nil {
		return hop{why: cmp.Or(why, api.ReasonNotYetRead)}
	}
	if s.TxBitsPerS <= 0 || s.RxBitsPerS <= 0 || s.TxBitsPerS > maxBitsPerS || s.RxBitsPerS > maxBitsPerS {
		return hop{why: api.ReasonSourceMalformed}
	}
	h := hop{tx: s.TxBitsPerS, rx: s.RxBitsPerS}
	if s.Generation.Valid() {
		h.generation = s.Generation
	}
	return h
}

func (h hop) known() bool { return h.tx > 0 }

// turned is the hop seen from its other end.
func (h hop) turned() hop {
	h.tx, h.rx = h.rx, h.tx
	return h
}

// view is what one port tells of the way to one peer.
type view struct {
	at   *port
	peer *api.ThunderboltPeer
	// hubs are those in between, the nearest to the port first.
	hubs []*api.ThunderboltHub
	// hops are the pieces of cable, one more than hubs.
	hops []hop
	// torn says that the chain of hubs is not told to its end.
	torn bool
}

// viewOf follows the chain of hubs from a peer up to the port.
func viewOf(at *port, peer *api.ThunderboltPeer) *view {
	v := &view{at: at, peer: peer}
	for route := peer.Hub; route != "" && !v.torn; {
		i := slices.IndexFunc(at.Hubs, func(h api.ThunderboltHub) bool { return h.Route == route })
		if v.torn = i < 0 || len(v.hubs) == len(at.Hubs); !v.torn {
			v.hubs = append(v.hubs, &at.Hubs[i])
			route = at.Hubs[i].Parent
		}
	}
	slices.Reverse(v.hubs)
	v.hops = append(v.hops, hopOf(at.Negotiated, at.Unknown["negotiated"]))
	for i, hub := range v.hubs {
		if i > 0 {
			v.hops = append(v.hops, hopOf(hub.Negotiated, at.Unknown["hubs."+hub.Route+".negotiated"]))
		}
	}
	if peer.Hub != "" {
		v.hops = append(v.hops, hopOf(peer.Negotiated, at.Unknown["peers."+peer.DomainUUID+".negotiated"]))
	}
	return v
}

// whole reports whether the view knows the speed of every hop it is made of.
func (v *view) whole() bool {
	return v != nil && !v.torn && !slices.ContainsFunc(v.hops, func(h hop) bool { return !h.known() })
}

// hubName is what people call a hub.
func hubName(h *api.ThunderboltHub) string { return cmp.Or(h.Name, h.Vendor, "hub") }
