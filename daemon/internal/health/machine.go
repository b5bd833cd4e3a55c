package health

import (
	"context"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

const (
	// easedFor is how long heat, power or memory must have been better before a condition
	// says so: what comes and goes is one condition.
	easedFor = 30 * time.Second
	// batteryLow is the charge from which on a battery in use is almost empty.
	batteryLow = 0.2
)

// Machine raises and clears the conditions of this Mac's heat, power and memory. It may
// be used by several goroutines.
type Machine struct {
	own   *Health
	clock native.Clock
	name  func() string

	mu                    sync.Mutex
	closed                bool
	heat, memory, battery strain
}

// strain is one thing that a Mac can suffer from.
type strain struct {
	codes      []api.Reason // from mild to severe
	now, shown int          // which of them, from 1 on; 0 = none
	timer      native.Timer // shows what is now, where that is better
}

// NewMachine makes the conditions of this Mac, which people call name.
func NewMachine(own *Health, clock native.Clock, name func() string) *Machine {
	return &Machine{
		own: own, clock: clock, name: name,
		heat:    strain{codes: []api.Reason{api.ReasonThermalPressure, api.ReasonThermalCritical}},
		memory:  strain{codes: []api.Reason{api.ReasonMemoryPressure, api.ReasonMemoryCritical}},
		battery: strain{codes: []api.Reason{api.ReasonBatteryLow}},
	}
}

// Run follows this node's documents of load and memory until ctx ends. Systems announce
// what counts here, so nothing is read for it.
func (m *Machine) Run(ctx context.Context, l *ledger.Ledger) {
	kinds := []api.Kind{api.KindSystem, api.KindMemory}
	_ = l.FollowEach(ctx, ledger.WatchOptions{Name: "machine", Filter: ledger.Filter{Kinds: kinds, Nodes: []api.NodeID{l.Node()}}, Passive: true}, func(c ledger.Change) {
		for _, record := range c.Put {
			doc := record.Document()
			_, silent := doc.Unknown[string(doc.Kind)] // the value is what its source said last
			var system api.System
			var memory api.Memory
			switch {
			case doc.Kind == api.KindSystem && (silent || doc.Decode(&system) == nil):
				m.System(system)
			case doc.Kind == api.KindMemory && (silent || doc.Decode(&memory) == nil):
				m.Memory(memory)
			}
		}
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	for _, s := range []*strain{&m.heat, &m.memory, &m.battery} {
		s.stop()
	}
}

// System takes what the Mac says of its heat and power now.
func (m *Machine) System(now api.System) {
	m.take(&m.heat, map[api.ThermalState]int{api.ThermalSerious: 1, api.ThermalCritical: 2}[now.ThermalState])
	low := 0
	if now.PowerSource == api.PowerBattery && now.BatteryRatio != nil && *now.BatteryRatio <= batteryLow {
		low = 1
	}
	m.take(&m.battery, low)
}

// Memory takes what the Mac says of its memory now.
func (m *Machine) Memory(now api.Memory) {
	m.take(&m.memory, map[api.Pressure]int{api.PressureWarning: 1, api.PressureCritical: 2}[now.Pressure])
}

func (m *Machine) take(s *strain, level int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s.now = level
	switch {
	case m.closed:
	case level >= s.shown:
		s.stop()
		m.showLocked(s)
	case s.timer == nil:
		s.timer = m.clock.AfterFunc(easedFor, func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			if !m.closed && s.timer != nil {
				s.timer = nil
				m.showLocked(s)
			}
		})
	}
}

// showLocked has the condition of a strain say what is now.
func (m *Machine) showLocked(s *strain) {
	s.shown = s.now
	for i, code := range s.codes {
		m.own.Hold(code, "", i+1 == s.shown, m.name())
	}
}

func (s *strain) stop() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
}
