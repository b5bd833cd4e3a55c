package simulate

import (
	"slices"
	"strconv"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology"
	"fulmen/native/sim/scenario"
)

// measurements writes what the scenario records, each link at both its ends.
func (a *artist) measurements(graph topology.Graph) error {
	plan := a.world.Scenario()
	for _, gpu := range plan.Measurements.GPUs {
		profile := api.GPUProfile{FP16TFLOPS: some(gpu.FP16TFLOPS), MemoryBytesPerS: someInt(gpu.MemoryBytesPerS), MeasuredAt: a.at}
		if err := a.put(gpu.Mac, api.KindGPUProfile, "", profile, nil); err != nil {
			return err
		}
	}
	for _, m := range plan.Measurements.Links {
		back := m
		back.From, back.To, back.UpBitsPerS, back.DownBitsPerS = m.To, m.From, m.DownBitsPerS, m.UpBitsPerS
		var err error
		if m.Transport == string(api.TransportRDMA) {
			err = a.measuredCable(graph, m, back)
		} else {
			err = a.measuredPath(graph, m, back)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// profile is the part that both transports share.
func (a *artist) profile(m scenario.LinkMeasurement) api.LinkProfile {
	return api.LinkProfile{
		Transport: api.Transport(m.Transport), Peer: a.authors[m.To].node, MeasuredAt: a.at,
		UpBitsPerS: someInt(m.UpBitsPerS), DownBitsPerS: someInt(m.DownBitsPerS), RTTUS: some(m.RTTUS), JitterUS: some(m.JitterUS),
	}
}

// measuredCable writes a measurement over RDMA, which is the cable's.
func (a *artist) measuredCable(graph topology.Graph, ways ...scenario.LinkMeasurement) error {
	link := a.cableOf(graph, ways[0])
	if !link.Valid() {
		return nil // the cable is not plugged
	}
	for _, m := range ways {
		profile := a.profile(m)
		profile.LinkKind, profile.Link = api.LinkRDMA, link
		if err := a.put(m.From, api.KindLinkProfile, link.String(), profile, unmeasured(profile)); err != nil {
			return err
		}
	}
	return nil
}

// cableOf finds the cable in the receptacle that a measurement names.
func (a *artist) cableOf(graph topology.Graph, m scenario.LinkMeasurement) api.LinkID {
	receptacle, ok := a.receptacle(m)
	if !ok {
		return api.LinkID{}
	}
	near := api.LinkEnd{Node: a.authors[m.From].node, Receptacle: receptacle}
	for _, cable := range graph.List().Cables {
		here := slices.ContainsFunc(cable.Ends, func(e api.CableEnd) bool { return e.End == near })
		far := slices.ContainsFunc(cable.Ends, func(e api.CableEnd) bool { return e.End.Node == a.authors[m.To].node })
		if cable.Link.Valid() && here && far {
			return cable.Link
		}
	}
	return api.LinkID{}
}

// receptacle is that of a path over Thunderbolt; false where the measurement
// names a network.
func (a *artist) receptacle(m scenario.LinkMeasurement) (api.Receptacle, bool) {
	if slices.ContainsFunc(a.world.Scenario().Networks, func(n scenario.Network) bool { return n.Name == m.Over }) {
		return 0, false
	}
	number, err := strconv.Atoi(strings.TrimPrefix(m.Over, "tb"))
	return api.Receptacle(number), err == nil
}

// measuredPath writes a measurement over sockets, which is an address's: the
// best of those that answer there, IPv4 first.
func (a *artist) measuredPath(graph topology.Graph, ways ...scenario.LinkMeasurement) error {
	link := a.cableOf(graph, ways[0])
	var found *topology.Path
	for i := range graph.Paths {
		p := &graph.Paths[i]
		if p.From != a.authors[ways[0].From].node || p.To != a.authors[ways[0].To].node {
			continue
		}
		over := p.Link == link
		if !link.Valid() {
			over = a.onNetwork(ways[0].From, p.Interface, ways[0].Over)
		}
		if over && (found == nil || p.Address.Is4() && !found.Address.Is4()) {
			found = p
		}
	}
	if found == nil {
		return nil // no address answers there
	}
	for i, m := range ways {
		profile := a.profile(m)
		profile.LinkKind, profile.Link, profile.Source, profile.Sink, profile.Interface = found.Kind, found.Link, found.Source, found.Address, found.Interface
		if i > 0 {
			profile.Source, profile.Sink, profile.Interface = found.Address, found.Source, found.PeerInterface
			if profile.Sink.Zone() != "" { // each end has its own interface's
				profile.Source, profile.Sink = profile.Source.WithZone(found.PeerInterface), profile.Sink.WithZone(found.PeerInterface)
			}
		}
		name := api.PeerAddress{Peer: profile.Peer, Address: profile.Sink}.String()
		if err := a.put(m.From, api.KindLinkProfile, name, profile, unmeasured(profile)); err != nil {
			return err
		}
	}
	return nil
}

// onNetwork reports whether a Mac's interface is plugged into a network.
func (a *artist) onNetwork(mac, iface, network string) bool {
	plan := a.world.Scenario()
	at := slices.IndexFunc(plan.Macs, func(m scenario.Mac) bool { return m.Name == mac })
	return at >= 0 && slices.ContainsFunc(plan.Macs[at].Interfaces, func(i scenario.Interface) bool {
		return i.Name == iface && i.Network == network && network != ""
	})
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
