package simulate

import (
	"log/slog"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/profile"
	"fulmen/daemon/internal/topology"
	"fulmen/native/sim"
	"fulmen/native/sim/scenario"
)

// recorded is what is recorded of this Mac and its paths, with the other Macs' names.
type recorded struct {
	sim.Recorded
	self api.NodeID
	macs map[api.NodeID]string
}

// Recorded reads what the scenario records of the Mac with a node's id, as the world is
// now; the graph says which Macs the others are. A world that is gone records nothing.
func (s *Simulation) Recorded(self api.NodeID, graph topology.Graph, log *slog.Logger) profile.Recording {
	now, err := s.World.Recorded(s.Mac)
	if err != nil {
		log.Warn("what the scenario records could not be read", "error", err)
	}
	r := &recorded{Recorded: now, self: self, macs: map[api.NodeID]string{}}
	for _, p := range graph.Paths {
		if p.From != r.self {
			continue // there are as many as pairs of nodes
		}
		if mac := r.macAt(p.Interface, p); mac != "" {
			r.macs[p.To] = mac
		}
	}
	return r
}

// GPU implements profile.Recording.
func (r *recorded) GPU() (fp16TFLOPS float64, memoryBytesPerS int64, ok bool) {
	if r.Recorded.GPU == nil || r.Recorded.GPU.FP16TFLOPS == 0 || r.Recorded.GPU.MemoryBytesPerS == 0 {
		return 0, 0, false
	}
	return r.Recorded.GPU.FP16TFLOPS, int64(r.Recorded.GPU.MemoryBytesPerS), true
}

// macAt is which Mac answers at a path's address.
func (r *recorded) macAt(iface string, p topology.Path) string {
	at := slices.IndexFunc(r.Reach, func(one sim.Reach) bool {
		return one.Interface == iface && one.Address == p.Address.WithZone("")
	})
	if at < 0 {
		return ""
	}
	return r.Reach[at].Peer
}

// Path implements profile.Recording.
func (r *recorded) Path(path profile.Path) (profile.Reading, bool) {
	near, isCable := path.Link.End(r.self)
	far := path.Link.Other(near)
	mac, isMet := r.macs[path.Peer]
	for _, one := range r.Paths {
		isSame := one.Transport == string(path.Transport) && (one.To == mac || !isMet && isCable)
		switch {
		case !isSame:
		case path.Transport == api.TransportRDMA || !isMet: // a cable is known by its ports before a path leads there
			isSame = isCable && one.PortNumber == int(near.PortNumber) && one.PeerPortNumber == int(far.PortNumber)
		case one.PortNumber != 0 && isCable:
			isSame = one.PortNumber == int(near.PortNumber)
		default:
			isSame = slices.Contains(one.Interfaces, path.Interface)
		}
		if isSame {
			return readingOf(one.LinkMeasurement), true
		}
	}
	return profile.Reading{}, false
}

func readingOf(m scenario.LinkMeasurement) profile.Reading {
	return profile.Reading{
		UpBitsPerS: someInt(m.UpBitsPerS), DownBitsPerS: someInt(m.DownBitsPerS), RTTUS: some(m.RTTUS), JitterUS: some(m.JitterUS),
	}
}
