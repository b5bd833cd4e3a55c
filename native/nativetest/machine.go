package nativetest

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"fulmen/native"
)

// Machine is a machine in memory. Its facts are what the test puts there.
type Machine struct {
	clock native.Clock

	mu     sync.Mutex
	facts  native.Snapshot
	closed bool

	// speaking is held while hints are delivered, and by stop, so that none
	// comes after it. It is taken before mu, never inside it.
	speaking sync.Mutex
	watchers []*func(native.Hint)
}

// NewMachine returns a machine with the given facts, which are copied.
func NewMachine(clock native.Clock, facts native.Snapshot) *Machine {
	return &Machine{clock: clock, facts: clone(facts)}
}

// Platform returns the machine as a platform. What it has no part for refuses.
func (m *Machine) Platform() native.Platform {
	p, err := native.Platform{
		Name: "memory", Simulated: true,
		Facts: m, Clock: m.clock,
		Closers: []func() error{m.close},
	}.Complete()
	if err != nil {
		panic(err) // facts and clock are set two lines above
	}
	return p
}

// Change edits the facts and hints at each area.
func (m *Machine) Change(edit func(*native.Snapshot), areas ...native.Area) {
	m.mu.Lock()
	edit(&m.facts)
	m.mu.Unlock()
	m.speaking.Lock()
	defer m.speaking.Unlock()
	for _, area := range areas {
		h := native.Hint{Area: area, Source: "memory.change", At: native.Stamp(m.clock.Now()), BootUS: m.clock.Boot().Microseconds()}
		for _, watcher := range m.watchers {
			(*watcher)(h)
		}
	}
}

// Snapshot returns a copy of the areas.
func (m *Machine) Snapshot(ctx context.Context, areas ...native.Area) (native.Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return native.Snapshot{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return native.Snapshot{}, native.ErrClosed
	}
	s := clone(m.facts)
	s.At, s.Platform, s.Simulated = native.Stamp(m.clock.Now()), "memory", true
	for _, area := range native.AllAreas() {
		if !slices.Contains(areas, area) {
			s.Part(area).SetZero()
		}
	}
	s.Unknown = nil
	for _, area := range areas {
		if !s.Has(area) {
			s.Unknown.Add(string(area), native.ReasonNoHardware)
		}
	}
	return s, nil
}

// Watch calls hint for every change from now on.
func (m *Machine) Watch(hint func(native.Hint)) (stop func() error, err error) {
	m.mu.Lock()
	closed := m.closed
	m.mu.Unlock()
	if closed {
		return nil, native.ErrClosed
	}
	m.speaking.Lock()
	defer m.speaking.Unlock()
	watcher := &hint
	m.watchers = append(m.watchers, watcher)
	return func() error {
		m.speaking.Lock()
		defer m.speaking.Unlock()
		m.watchers = slices.DeleteFunc(m.watchers, func(w *func(native.Hint)) bool { return w == watcher })
		return nil
	}, nil
}

// Capabilities answers every feature.
func (m *Machine) Capabilities(context.Context) (native.Capabilities, error) {
	c := native.Capabilities{}
	for _, area := range native.AllAreas() {
		c.Yes(native.FactsFeature(area), native.HintsFeature(area))
	}
	c.Yes(native.FeatureClock)
	c.No(native.ReasonNoPlatform, native.FeatureDiscovery, native.FeatureSupervisor,
		native.FeaturePowerNotices, native.FeatureKeepAwake, native.FeatureNetworkService, native.FeatureBridgeMembership)
	return c, nil
}

func (m *Machine) close() error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.speaking.Lock()
	defer m.speaking.Unlock()
	m.watchers = nil
	return nil
}

// clone copies by way of JSON, which proves at every reading that facts are
// plain data.
func clone(s native.Snapshot) native.Snapshot {
	data, err := json.Marshal(s)
	if err != nil {
		panic("facts that are no plain data: " + err.Error())
	}
	var c native.Snapshot
	if err := json.Unmarshal(data, &c); err != nil {
		panic("facts that do not read back: " + err.Error())
	}
	return c
}
