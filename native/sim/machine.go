package sim

import (
	"reflect"
	"strings"

	"fulmen/native"
)

func (w *World) identity(m *mac) *native.Identity {
	id := m.spec.Identity
	for _, number := range []**int{&id.CPUCores, &id.CPUPerformanceCores, &id.CPUEfficiencyCores, &id.GPUCores} {
		*number = copied(*number)
	}
	id.Unknown = id.Unknown.Clone()
	id.BootedAt = native.Stamp(m.bootedAt)
	id.BootID = m.bootID
	explain(&id, &id.Unknown)
	return &id
}

func (w *World) memory(m *mac) *native.Memory {
	f := &native.Memory{Pressure: m.spec.Pressure}
	if m.spec.MemoryBytes != 0 {
		f.TotalBytes = new(m.spec.MemoryBytes)
		if m.spec.UsedBytes != 0 {
			f.UsedBytes = new(m.spec.UsedBytes)
			// By the definitions of the two: what is used cannot be had.
			f.AvailableBytes = new(m.spec.MemoryBytes - m.spec.UsedBytes)
		}
	}
	if m.spec.GPUWorkingSetBytes != 0 {
		f.GPUWorkingSetBytes = new(m.spec.GPUWorkingSetBytes)
	}
	f.Unknown.Add("pressure_stall_ratio", native.ReasonNoOS)
	explain(f, &f.Unknown)
	return f
}

// system tells heat and power. Loads, temperatures and fans are in no scenario.
func (w *World) system(m *mac) *native.System {
	f := &native.System{
		ThermalState: m.spec.ThermalState, PowerSource: m.spec.PowerSource,
		BatteryRatio: copied(m.spec.BatteryRatio), LowPowerMode: new(m.spec.LowPowerMode),
		GPUUseRatio: copied(m.spec.GPUUseRatio), SystemPowerWatts: copied(m.spec.SystemPowerWatts),
		GPUTemperatureCelsius: copied(m.spec.GPUTemperatureCelsius),
	}
	if f.BatteryRatio == nil {
		f.Unknown.Add("battery_ratio", native.ReasonNoHardware)
	}
	explain(f, &f.Unknown)
	return f
}

// explain gives every absent field of a struct of facts that has no reason yet
// the reason that the scenario does not say.
func explain(facts any, unknown *native.Reasons) {
	v := reflect.ValueOf(facts).Elem()
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		mayBeAbsent := strings.Contains(options, "omitzero") && field.Tag.Get("native") != "optional"
		switch {
		case name == "unknown":
		case !v.Field(i).IsZero():
			delete(*unknown, name)
		case mayBeAbsent && (*unknown)[name] == "":
			unknown.Add(name, native.ReasonNotInScenario)
		}
	}
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}
