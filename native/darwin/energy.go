package darwin

import (
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"fulmen/native"
)

// joules are the parts of a joule by the label of a channel's unit.
var joules = map[string]float64{"mJ": 1e-3, "uJ": 1e-6, "nJ": 1e-9, "J": 1}

// The channels of IOReport that count.
const (
	groupEnergy = "Energy Model"
	groupGPU    = "GPU Stats"
	channelGPU  = "GPUPH" // the GPU's performance states
)

// setEnergy makes powers, the GPU's use and its clock from the counters of the
// time since the last reading.
func (m *machine) setEnergy(s *native.System, interval time.Duration) {
	channels, err := m.meters.Energy()
	fields := []string{"cpu_power_watts", "gpu_power_watts", "package_power_watts", "gpu_frequency_hz", "gpu_load_ratio"}
	why := native.ReasonNotYetRead
	if err != nil {
		why = whyNot(err)
	} else if interval > 0 && channels != nil {
		why = native.ReasonNoOS.With("IOReport has no such channel")
		m.addChannels(s, channels, interval.Seconds())
	}
	for i, value := range []*float64{s.CPUPowerWatts, s.GPUPowerWatts, s.PackagePowerWatts, s.GPUFrequencyHz, s.GPULoadRatio} {
		if value == nil {
			s.Unknown.Add(fields[i], why)
		}
	}
}

func (m *machine) addChannels(s *native.System, channels []any, seconds float64) {
	add := func(into **float64, watts float64) {
		if *into == nil {
			*into = new(0.0)
		}
		**into += watts
	}
	for _, channel := range channels {
		name := listText(channel, "name")
		switch listText(channel, "group") {
		case groupEnergy:
			value, ok := listMap(channel)["value"].(int64)
			unit := joules[strings.TrimSpace(listText(channel, "unit"))]
			if !ok || value < 0 || unit == 0 {
				continue
			}
			watts := float64(value) * unit / seconds
			isCPU, isGPU := strings.HasSuffix(name, "CPU Energy"), name == "GPU Energy"
			if isCPU {
				add(&s.CPUPowerWatts, watts)
			}
			if isGPU {
				add(&s.GPUPowerWatts, watts)
			}
			if isCPU || isGPU || strings.HasPrefix(name, "ANE") || strings.HasPrefix(name, "DRAM") || strings.HasPrefix(name, "GPU SRAM") {
				add(&s.PackagePowerWatts, watts)
			}
		case groupGPU:
			if name == channelGPU {
				m.addGPU(s, channel)
			}
		}
	}
}

// addGPU makes the use, the load and the mean clock of how long the GPU was in each of its
// states, the first of which is off.
func (m *machine) addGPU(s *native.System, channel any) {
	states, _ := listMap(channel)["states"].([]any)
	clocks := m.gpuClocks()
	var all, busy, weighted float64
	step := 0
	for _, state := range states {
		residency, ok := listMap(state)["residency"].(int64)
		if !ok || residency < 0 {
			return
		}
		all += float64(residency)
		if name := listText(state, "name"); name == "OFF" || name == "IDLE" || name == "DOWN" {
			continue
		}
		busy += float64(residency)
		if step < len(clocks) {
			weighted += float64(residency) * clocks[step]
		}
		step++
	}
	if all == 0 {
		return
	}
	s.GPUUseRatio = new(busy / all)
	if len(clocks) == 0 || step > len(clocks) {
		return
	}
	s.GPULoadRatio = new(weighted / (all * slices.Max(clocks)))
	if busy > 0 {
		s.GPUFrequencyHz = new(weighted / busy)
	}
}

// gpuClocks reads the GPU's clocks in hertz, slowest first: pairs of clock and
// voltage, of which the one that is off has clock 0. They are in hertz up to the
// M3 and in kilohertz from the M4.
func (m *machine) gpuClocks() []float64 {
	found, err := m.frameworks.At("IODeviceTree:/arm-io/pmgr", "voltage-states9", "voltage-states9-sram")
	if err != nil || len(found) == 0 {
		return nil
	}
	raw, ok := found[0].properties["voltage-states9-sram"].([]byte)
	if !ok {
		raw, _ = found[0].properties["voltage-states9"].([]byte)
	}
	var clocks []float64
	for pair := range slices.Chunk(raw, 8) {
		if len(pair) < 8 {
			break
		}
		hertz := float64(binary.LittleEndian.Uint32(pair))
		if hertz == 0 {
			continue
		}
		if hertz < 100_000_000 {
			hertz *= 1000
		}
		clocks = append(clocks, hertz)
	}
	return clocks
}
