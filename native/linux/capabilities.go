package linux

import (
	"context"
	"errors"

	"fulmen/native"
)

// Capabilities tries everything: files are read, tables dumped, and sources of
// hints armed and disarmed.
func (m *machine) Capabilities(ctx context.Context) (native.Capabilities, error) {
	if err := m.usable(ctx); err != nil {
		return nil, err
	}
	c := native.Capabilities{}
	c.Yes(native.FeatureClock, native.FactsFeature(native.AreaIdentity))
	m.canRead(c, native.AreaMemory, "proc/meminfo")
	m.canRead(c, native.AreaSystem, "proc/stat")
	if _, err := m.links(); err != nil {
		c.No(native.ReasonReadFailed.With("rtnetlink: "+err.Error()), native.FactsFeature(native.AreaNetwork))
	} else {
		c.Yes(native.FactsFeature(native.AreaNetwork))
	}
	for _, area := range []native.Area{native.AreaThunderbolt, native.AreaRDMA} {
		c.No(notRead(area), native.FactsFeature(area), native.HintsFeature(area))
	}
	c.No(native.ReasonNoOS.With("load and heat change all the time; they are read while somebody watches"), native.HintsFeature(native.AreaSystem))
	for _, area := range []native.Area{native.AreaIdentity, native.AreaMemory, native.AreaNetwork} {
		m.canHint(c, area)
	}
	c.No(native.ReasonNoPlatform.With("not a part of "+platformName), native.FeatureDiscovery, native.FeatureSupervisor,
		native.FeaturePowerNotices, native.FeatureKeepAwake, native.FeatureNetworkService, native.FeatureBridgeMembership)
	return c, nil
}

func (m *machine) canRead(c native.Capabilities, area native.Area, file string) {
	if _, err := m.tree.bytes(file); err != nil {
		c.No(reason(file, err, native.ReasonNoOS.With("no "+file)), native.FactsFeature(area))
		return
	}
	c.Yes(native.FactsFeature(area))
}

// canHint arms every source of the area: an area of which one source is missing
// would move in silence.
func (m *machine) canHint(c native.Capabilities, area native.Area) {
	feature := native.HintsFeature(area)
	c.No(native.ReasonNoPlatform, feature)
	for _, source := range m.sources {
		if source.area != area {
			continue
		}
		listeners, err := source.open(m)
		if err = errors.Join(err, closeAll(listeners)); err != nil {
			why := native.ReasonReadFailed.With(err.Error())
			var refusal *native.UnsupportedError
			if errors.As(err, &refusal) {
				why = refusal.Reason
			}
			c.No(why, feature)
			return
		}
		c.Yes(feature)
	}
}
