package darwin

import (
	"slices"
	"strings"

	"fulmen/native"
)

// setSensors takes what the machine's controller (SMC) measures. Its keys have
// four letters; those of processors and GPUs begin alike on all models so far.
func (m *machine) setSensors(s *native.System) {
	read, err := m.meters.Sensors()
	if err != nil {
		for _, field := range []string{"system_power_watts", "cpu_temperature_celsius", "gpu_temperature_celsius", "temperatures", "fans"} {
			s.Unknown.Add(field, whyNot(err))
		}
		return
	}
	values := listMap(read["values"])
	if watts, ok := values["PSTR"].(float64); ok && watts >= 0 && watts < 5000 {
		s.SystemPowerWatts = new(watts)
	} else {
		s.Unknown.Add("system_power_watts", native.ReasonNoHardware.With("no key PSTR"))
	}
	s.Temperatures = []native.Temperature{}
	for _, key := range sortedKeys(values) {
		celsius, ok := values[key].(float64)
		// What is off or not there reads as 0, or as nonsense.
		if !ok || !strings.HasPrefix(key, "T") || celsius <= 0 || celsius > 150 {
			continue
		}
		s.Temperatures = append(s.Temperatures, native.Temperature{Name: key, TemperatureCelsius: celsius})
		switch {
		case hasAnyPrefix(key, "Tp", "Te", "Ts"):
			hottest(&s.CPUTemperatureCelsius, celsius)
		case hasAnyPrefix(key, "Tg", "Tf1", "Tf2"):
			hottest(&s.GPUTemperatureCelsius, celsius)
		}
	}
	if s.CPUTemperatureCelsius == nil {
		s.Unknown.Add("cpu_temperature_celsius", native.ReasonNoHardware.With("no key of a processor"))
	}
	if s.GPUTemperatureCelsius == nil {
		s.Unknown.Add("gpu_temperature_celsius", native.ReasonNoHardware.With("no key of a GPU"))
	}
	s.Fans = fansOf(values)
}

// fansOf reads F0Ac (revolutions a minute) and F0Mx (the most) of each fan.
func fansOf(values map[string]any) []native.Fan {
	fans := []native.Fan{}
	for _, key := range sortedKeys(values) {
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
			fan.Unknown.Add("max_speed_hz", native.ReasonNoHardware.With("no key "+key[:2]+"Mx"))
		}
		fans = append(fans, fan)
	}
	return fans
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

func hottest(into **float64, celsius float64) {
	if *into == nil || celsius > **into {
		*into = new(celsius)
	}
}
