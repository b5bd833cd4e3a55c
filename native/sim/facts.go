package sim

import (
	"context"

	"fulmen/native"
)

// Snapshot computes the areas from the state of the world.
func (h *handle) Snapshot(ctx context.Context, areas ...native.Area) (native.Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return native.Snapshot{}, err
	}
	w := h.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if h.ended {
		return native.Snapshot{}, native.ErrClosed
	}
	return w.snapshot(h.mac, areas), nil
}

// Capabilities answers alike for every Mac: what a scenario does not say is a
// gap of its facts, not of the platform.
func (h *handle) Capabilities(ctx context.Context) (native.Capabilities, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c := native.Capabilities{}
	for _, area := range native.AllAreas() {
		c.Yes(native.FactsFeature(area), native.HintsFeature(area))
	}
	c.Yes(native.FeatureClock, native.FeatureDiscovery, native.FeaturePowerNotices, native.FeatureKeepAwake,
		native.FeatureNetworkService, native.FeatureBridgeMembership)
	c.No(native.ReasonNoPlatform.With("the daemon that simulates brings its own"), native.FeatureSupervisor)
	return c, nil
}

// snapshot reads areas of a Mac. The caller holds the lock.
func (w *World) snapshot(m *mac, areas []native.Area) native.Snapshot {
	s := native.Snapshot{At: native.Stamp(w.clock.Now()), Platform: platformName, Simulated: true}
	for _, area := range areas {
		if m.silent[area] {
			s.Unknown.Add(string(area), native.ReasonSourceGone.With("the scenario silenced it"))
			continue
		}
		switch area {
		case native.AreaIdentity:
			s.Identity = w.identity(m)
		case native.AreaMemory:
			s.Memory = w.memory(m)
		case native.AreaSystem:
			s.System = w.system(m)
		case native.AreaNetwork:
			s.Network = w.networkFacts(m)
		case native.AreaThunderbolt:
			s.Thunderbolt = w.thunderbolt(m)
		case native.AreaRDMA:
			s.RDMA = w.rdma(m)
		default:
			s.Unknown.Add(string(area), native.ReasonNoPlatform)
		}
	}
	return s
}
