package linux

import (
	"context"
	"errors"
	"slices"

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
	c.Yes(native.FactsFeature(native.AreaThunderbolt), native.FactsFeature(native.AreaRDMA))
	if !m.tree.hasThunderbolt() {
		c.No(noThunderbolt(), native.FactsFeature(native.AreaThunderbolt))
	}
	if !m.tree.drivesRDMA() {
		c.No(noRDMA(), native.FactsFeature(native.AreaRDMA))
	}
	c.No(native.ReasonNoOS.With("load and heat change all the time; they are read while somebody watches"), native.HintsFeature(native.AreaSystem))
	for _, area := range []native.Area{
		native.AreaIdentity, native.AreaMemory, native.AreaNetwork, native.AreaThunderbolt, native.AreaRDMA,
	} {
		m.canHint(c, area)
	}
	if rdma := native.HintsFeature(native.AreaRDMA); c[rdma].Supported && m.tree.onInfiniBand() {
		c.No(native.ReasonNoOS.With("the kernel does not announce when the state of an InfiniBand port changes"), rdma)
	}
	m.canDiscover(c)
	c.Yes(native.FeatureSupervisor)
	c.No(native.ReasonNoPlatform.With("not a part of "+platformName),
		native.FeaturePowerNotices, native.FeatureKeepAwake)
	m.canChange(c)
	return c, nil
}

// canChange asks whether the network may be changed, without changing anything.
func (m *machine) canChange(c native.Capabilities) {
	features := []native.Feature{native.FeatureNetworkService, native.FeatureBridgeMembership}
	if m.mayChange == nil {
		c.No(native.ReasonNoPlatform.With("not a part of "+platformName), features...)
		return
	}
	if why := m.mayChange(); why != "" {
		c.No(why, features...)
		return
	}
	c.Yes(features...)
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
		if !slices.Contains(source.areas, area) {
			continue
		}
		listeners, err := source.open(m)
		if err = errors.Join(err, closeAll(listeners)); err != nil {
			c.No(refusalOf(err, native.ReasonReadFailed.With(err.Error())), feature)
			return
		}
		c.Yes(feature)
	}
}

// refusalOf is the reason of a refusal, or else what is given.
func refusalOf(err error, otherwise native.Reason) native.Reason {
	if refusal, ok := errors.AsType[*native.UnsupportedError](err); ok {
		return refusal.Reason
	}
	return otherwise
}
