//go:build cgo && linux && darwinsim

package simmac

import (
	"context"
	"slices"

	"fulmen/native"
)

var pressureLevels = map[native.Pressure]int{native.PressureNormal: 1, native.PressureWarning: 2, native.PressureCritical: 4}

// applyPower changes the power source, the heat and the pressure.
func (m *Mac) applyPower(s native.Snapshot) {
	if s.Memory != nil && s.Memory.Pressure != m.pressure {
		m.pressure = s.Memory.Pressure
		m.Machine.SetPressure(pressureLevels[s.Memory.Pressure])
	}
	if s.System == nil {
		return
	}
	sources := []any{}
	if s.System.BatteryRatio != nil {
		sources = append(sources, map[string]any{"Type": "InternalBattery", "Max Capacity": 100, "Current Capacity": int(*s.System.BatteryRatio * 100)})
	}
	kind := map[native.PowerSource]string{native.PowerAC: "AC Power", native.PowerBattery: "Battery Power", native.PowerUPS: "UPS Power"}[s.System.PowerSource]
	m.Machine.SetPowerSource(map[string]any{"type": kind, "sources": sources})
	level := slices.Index([]native.ThermalState{native.ThermalNominal, native.ThermalFair, native.ThermalSerious, native.ThermalCritical}, s.System.ThermalState)
	m.Machine.Notify("com.apple.system.thermalpressurelevel", uint64(max(0, level)))
}

// The messages of the power management's root.
const (
	messageWillPowerOff uint32 = 0xE0000250
	messageWillSleep    uint32 = 0xE0000280
	messageHasPoweredOn uint32 = 0xE0000300
)

// announce passes a notice on as the system would, under a number of its own.
func (m *Mac) announce(n native.PowerNotice) {
	if n.ID == "" {
		m.Machine.PowerMessage(messageHasPoweredOn, 0)
		return
	}
	m.mu.Lock()
	m.notice++
	number := m.notice
	m.notices[number] = n.ID
	m.mu.Unlock()
	message := messageWillSleep
	if n.Event == native.PowerWillPowerOff {
		message = messageWillPowerOff
	}
	m.Machine.PowerMessage(message, number)
}

// allowed passes the answer back.
func (m *Mac) allowed(number int64) {
	m.mu.Lock()
	id, there := m.notices[number]
	delete(m.notices, number)
	m.mu.Unlock()
	if there {
		// On a goroutine: native/darwin may be in a callback.
		m.done.Go(func() { _ = m.source.Power.Acknowledge(context.Background(), id) })
	}
}
