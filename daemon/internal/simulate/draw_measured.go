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
			profile, name := a.profile(graph, path)
			if name == "" {
				continue // no address answers there
			}
			if err := a.put(mac, api.KindLinkProfile, name, profile, unmeasured(profile)); err != nil {
				return err
			}
		}
	}
	return nil
}

// profile is a recorded measurement and its name: over RDMA the cable's, else that of the
// best of the addresses that answer there, IPv4 first; no name where there is none.
func (a *artist) profile(graph topology.Graph, m sim.RecordedPath) (p api.LinkProfile, name string) {
	near, far := a.authors[m.From].node, a.authors[m.To].node
	p = api.LinkProfile{
		Transport: api.Transport(m.Transport), Peer: far, MeasuredAt: a.at,
		UpBitsPerS: someInt(m.UpBitsPerS), DownBitsPerS: someInt(m.DownBitsPerS), RTTUS: some(m.RTTUS), JitterUS: some(m.JitterUS),
	}
	if p.Transport == api.TransportRDMA {
		link, err := api.NewLinkID(api.LinkEnd{Node: near, PortNumber: api.PortNumber(m.PortNumber)}, api.LinkEnd{Node: far, PortNumber: api.PortNumber(m.PeerPortNumber)})
		if err != nil {
			return p, ""
		}
		p.LinkKind, p.Link = api.LinkRDMA, link
		return p, link.String()
	}
	var found topology.Path
	for _, path := range graph.Paths {
		if path.From == near && path.To == far && slices.Contains(m.Interfaces, path.Interface) && (name == "" || path.Address.Is4() && !found.Address.Is4()) {
			found, name = path, peerAddress(path)
		}
	}
	p.LinkKind, p.Link, p.Source, p.Sink, p.Interface = found.Kind, found.Link, found.Source, found.Address, found.Interface
	return p, name
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
