package darwin

import (
	"context"
	"slices"

	"fulmen/native"
)

// sourcesOf are the sources without which an area would move in silence.
var sourcesOf = map[native.Area][]int{
	native.AreaIdentity:    {fromStore},
	native.AreaMemory:      {fromPressure},
	native.AreaSystem:      {fromPowerSource},
	native.AreaNetwork:     {fromStore, fromPreferences},
	native.AreaThunderbolt: {fromIOKit},
	native.AreaRDMA:        {fromIOKit, fromStore},
}

// Capabilities tries everything: areas are read, and sources armed and disarmed.
func (m *machine) Capabilities(ctx context.Context) (native.Capabilities, error) {
	if err := m.usable(ctx); err != nil {
		return nil, err
	}
	c := native.Capabilities{}
	c.Yes(native.FeatureClock)
	// What is sampled is not: that would open counters for nobody.
	c.Yes(native.FactsFeature(native.AreaSystem))
	areas := slices.DeleteFunc(native.AllAreas(), func(a native.Area) bool { return a == native.AreaSystem })
	s, err := m.Snapshot(ctx, areas...)
	if err != nil {
		return nil, err
	}
	for _, area := range areas {
		if s.Has(area) {
			c.Yes(native.FactsFeature(area))
		} else {
			c.No(s.Unknown[string(area)], native.FactsFeature(area))
		}
	}
	m.canListen(c)
	c.No(native.ReasonNoPlatform.With("not a part of this build"), native.FeatureSupervisor)
	if m.supervises {
		c.Yes(native.FeatureSupervisor)
	}
	m.canDiscover(c)
	m.canAct(c)
	return c, nil
}

// canDiscover connects to the system's responder and hangs up.
func (m *machine) canDiscover(c native.Capabilities) {
	r, err := m.connect()
	if err == nil {
		err = r.close()
	}
	if err != nil {
		c.No(whyNot(err), native.FeatureDiscovery)
		return
	}
	c.Yes(native.FeatureDiscovery)
}

// canAct looks whether the network may be changed, and with what.
func (m *machine) canAct(c native.Capabilities) {
	both := []native.Feature{native.FeatureNetworkService, native.FeatureBridgeMembership}
	switch {
	case !m.actions.root:
		c.No(native.ReasonNeedsRoot, both...)
	default:
		c.Yes(both...)
		if err := m.actions.editor.bridgesKnown(); err != nil {
			c.No(whyNot(err), native.FeatureBridgeMembership)
		}
	}
}

// canListen arms a line and looks which of its sources speak.
func (m *machine) canListen(c native.Capabilities) {
	silent := func(why native.Reason) {
		c.No(why, native.FeaturePowerNotices, native.FeatureKeepAwake)
		for _, area := range native.AllAreas() {
			c.No(why, native.HintsFeature(area))
		}
	}
	stop, err := m.listeners.listen(listener{})
	if err != nil {
		silent(whyNot(err))
		return
	}
	defer func() { _ = stop() }()
	for area, sources := range sourcesOf {
		c.Yes(native.HintsFeature(area))
		for _, source := range sources {
			if err := m.listeners.armed(source); err != nil {
				c.No(whyNot(err), native.HintsFeature(area))
			}
		}
	}
	c.Yes(native.FeaturePowerNotices, native.FeatureKeepAwake)
	if err := m.listeners.armed(fromPower); err != nil {
		c.No(whyNot(err), native.FeaturePowerNotices)
	}
}
