package scenario

import (
	"fmt"
	"slices"

	"fulmen/native/tomltext"
)

// checkMeasurements refuses numbers of Macs and paths that are not there.
func (s Scenario) checkMeasurements(p *problems) {
	for i, gpu := range s.Measurements.GPUs {
		path := fmt.Sprintf("gpu[%d]", i)
		fail := func(key, format string, args ...any) {
			p.add(tomltext.Join(path, key), "gpu %d: %s", i+1, fmt.Sprintf(format, args...))
		}
		if gpu.Mac == "" {
			continue
		}
		if err := s.checkMac(gpu.Mac); err != nil {
			fail("mac", "%s", err)
		}
		if slices.IndexFunc(s.Measurements.GPUs, func(g GPUMeasurement) bool { return g.Mac == gpu.Mac }) < i {
			fail("mac", "the GPU of %s is described twice", gpu.Mac)
		}
	}
	for i, link := range s.Measurements.Links {
		path := fmt.Sprintf("link[%d]", i)
		fail := func(key, format string, args ...any) {
			p.add(tomltext.Join(path, key), "link %d: %s", i+1, fmt.Sprintf(format, args...))
		}
		if link.From == "" || link.To == "" || link.Over == "" {
			continue
		}
		from, ok := s.Mac(link.From)
		if !ok {
			fail("from", "%s", s.checkMac(link.From))
			continue
		}
		if err := s.checkMac(link.To); err != nil {
			fail("to", "%s", err)
			continue
		}
		if link.From == link.To {
			fail("to", "from and to are both %s", link.To)
			continue
		}
		if err := s.checkPath(link, from); err != nil {
			fail("over", "%s", err)
		}
	}
}

// checkPath says whether the link's way leads from one Mac to the other.
func (s Scenario) checkPath(link LinkMeasurement, from Mac) error {
	if network, ok := s.Network(link.Over); ok {
		to, _ := s.Mac(link.To)
		for _, mac := range []Mac{from, to} {
			if !slices.ContainsFunc(mac.Interfaces, func(i Interface) bool { return i.Network == network.Name }) {
				return fmt.Errorf("%s has no interface on network %s", mac.Name, network.Name)
			}
		}
		if link.Transport == TransportRDMA {
			return fmt.Errorf("RDMA runs over Thunderbolt cables, not over network %s", network.Name)
		}
		return nil
	}
	end, err := ParseEnd(link.From + "." + link.Over)
	if err != nil || end.Hub {
		return fmt.Errorf("over = %q is neither a receptacle such as tb1 nor a network%s", link.Over,
			didYouMean(link.Over, namesOf(s.Networks, networkName)))
	}
	if _, err := s.Capability(end); err != nil {
		return err
	}
	if !slices.ContainsFunc(s.peers(end), func(e End) bool { return e.Owner == link.To }) {
		return fmt.Errorf("no cable leads from %s to %s", end, link.To)
	}
	return nil
}
