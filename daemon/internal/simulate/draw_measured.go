package simulate

import (
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology"
	"fulmen/native/sim"
)

// measurements writes what the scenario records of each Mac and its paths, as a daemon on
// it would measure them now.
func (a *artist) measurements(graph topology.Graph) error {
	for _, mac := range a.world.Macs() {
		recorded, err := a.world.Recorded(mac)
		if err != nil {
			return err
		}
		if gpu := recorded.GPU; gpu != nil {
			profile := api.GPUProfile{FP16TFLOPS: some(gpu.FP16TFLOPS), MemoryBytesPerS: someInt(gpu.MemoryBytesPerS), MeasuredAt: a.at}
			if err := a.put(mac, api.KindGPUProfile, "", profile, nil); err != nil {
				return err
			}
		}
		for _, path := range recorded.Paths {
			if err := a.profiles(graph, path); err != nil {
				return err
			}
		}
	}
	return nil
}

// profiles writes a recorded measurement: over RDMA under the cable's name, else under
// that of each address that answers there, IPv4 where there is one.
func (a *artist) profiles(graph topology.Graph, m sim.RecordedPath) error {
	near, far := a.authors[m.From].node, a.authors[m.To].node
	p := api.LinkProfile{
		Transport: api.Transport(m.Transport), Peer: far, MeasuredAt: a.at,
		UpBitsPerS: someInt(m.UpBitsPerS), DownBitsPerS: someInt(m.DownBitsPerS), RTTUS: some(m.RTTUS), JitterUS: some(m.JitterUS),
	}
	if p.Transport == api.TransportRDMA {
		link, err := api.NewLinkID(api.LinkEnd{Node: near, PortNumber: api.PortNumber(m.PortNumber)}, api.LinkEnd{Node: far, PortNumber: api.PortNumber(m.PeerPortNumber)})
		if err != nil {
			return nil
		}
		p.LinkKind, p.Link = api.LinkRDMA, link
		return a.put(m.From, api.KindLinkProfile, link.String(), p, unmeasured(p))
	}
	over := func(path topology.Path) bool {
		return path.From == near && path.To == far && slices.Contains(m.Interfaces, path.Interface)
	}
	any4 := slices.ContainsFunc(graph.Paths, func(path topology.Path) bool { return over(path) && path.Address.Is4() })
	for _, path := range graph.Paths {
		if !over(path) || path.Address.Is4() != any4 {
			continue
		}
		p.LinkKind, p.Link, p.Source, p.Sink, p.Interface = path.Kind, path.Link, path.Source, path.Address, path.Interface
		if err := a.put(m.From, api.KindLinkProfile, peerAddress(path), p, unmeasured(p)); err != nil {
			return err
		}
	}
	return nil
}

// unmeasured says of each number that the scenario does not record that it does not.
func unmeasured(p api.LinkProfile) map[string]api.Reason {
	why := map[string]api.Reason{}
	for field, is := range map[string]bool{
		"up_bits_per_s": p.UpBitsPerS != nil, "down_bits_per_s": p.DownBitsPerS != nil, "rtt_us": p.RTTUS != nil, "jitter_us": p.JitterUS != nil,
	} {
		if !is {
			why[field] = api.ReasonNotInScenario
		}
	}
	return why
}

// some is a recorded number; absent where the scenario has none.
func some(value float64) *float64 {
	if value == 0 {
		return nil
	}
	return &value
}

func someInt(value float64) *int64 {
	if value == 0 {
		return nil
	}
	return new(int64(value))
}
