package darwin

import (
	"maps"
	"slices"
	"strings"

	"fulmen/native"
)

// setSensors takes what the machine's controller (SMC) measures. Its keys have
// four letters; those of processors and GPUs begin alike on all models so far.
// Where it has none of either, the sensors of the HID event system are asked.
func (m *machine) setSensors(s *native.System) {
	read, err := m.meters.Sensors()
	values := listMap(read["values"])
	if watts, ok := values["PSTR"].(float64); ok && watts >= 0 && watts < 5000 {
		s.SystemPowerWatts = new(watts)
	} else if err == nil {
		s.Unknown.Add("system_power_watts", native.ReasonNoHardware.With("the sensors have no key PSTR"))
	} else {
		s.Unknown.Add("system_power_watts", whyNot(err))
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		celsius, ok := values[key].(float64)
		if !ok || !strings.HasPrefix(key, "T") {
			continue
		}
		addTemperature(s, key, celsius, hasAnyPrefix(key, "Tp", "Te", "Ts"), hasAnyPrefix(key, "Tg", "Tf1", "Tf2"))
	}
	other := m.setHIDTemperatures(s)
	if err == nil {
		s.Fans = fansOf(values)
	} else {
		s.Unknown.Add("fans", whyNot(err))
	}
	switch {
	case s.Temperatures != nil:
	case err != nil && other != nil:
		s.Unknown.Add("temperatures", whyNot(err))
	default:
		s.Temperatures = []native.Temperature{}
	}
	for field, value := range map[string]*float64{"cpu_temperature_celsius": s.CPUTemperatureCelsius, "gpu_temperature_celsius": s.GPUTemperatureCelsius} {
		switch {
		case value != nil:
		case err != nil && other != nil:
			s.Unknown.Add(field, whyNot(err))
		default:
			s.Unknown.Add(field, native.ReasonNoHardware.With("no sensor of this name"))
		}
	}
}

// setHIDTemperatures fills in what the controller has no key of: an older way,
// whose services have names instead. It says why nothing could be asked.
func (m *machine) setHIDTemperatures(s *native.System) error {
	noCPU, noGPU := s.CPUTemperatureCelsius == nil, s.GPUTemperatureCelsius == nil
	if !noCPU && !noGPU {
		return nil
	}
	sensors, err := m.meters.Temperatures()
	for _, sensor := range sensors {
		name := listText(sensor, "name")
		celsius, ok := listMap(sensor)["celsius"].(float64)
		isCPU, isGPU := hasAnyPrefix(name, "pACC MTR Temp", "eACC MTR Temp"), strings.HasPrefix(name, "GPU MTR Temp")
		if ok && (isCPU && noCPU || isGPU && noGPU) {
			addTemperature(s, name, celsius, isCPU, isGPU)
		}
	}
	return err
}

// addTemperature takes a reading that can be one: what is off or not there reads
// as 0, or as nonsense.
func addTemperature(s *native.System, name string, celsius float64, isCPU, isGPU bool) {
	if celsius > 0 && celsius <= 150 {
		s.AddTemperature(name, celsius, isCPU, isGPU)
	}
}

// fansOf reads F0Ac (revolutions a minute) and F0Mx (the most) of each fan.
func fansOf(values map[string]any) []native.Fan {
	fans := []native.Fan{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if len(key) != 4 || key[0] != 'F' || key[2:] != "Ac" {
			continue
		}
		fan := native.Fan{Name: "fan " + key[1:2]}
		if rpm, ok := values[key].(float64); ok && rpm >= 0 {
			fan.SpeedHz = new(rpm / 60)
		} else {
			fan.Unknown.Add("speed_hz", native.ReasonSourceMalformed.With(key))
		}
		if rpm, ok := values[key[:2]+"Mx"].(float64); ok && rpm > 0 {
			fan.MaxSpeedHz = new(rpm / 60)
		} else {
			fan.Unknown.Add("max_speed_hz", native.ReasonNoHardware.With("the sensors have no key "+key[:2]+"Mx"))
		}
		fans = append(fans, fan)
	}
	return fans
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}
