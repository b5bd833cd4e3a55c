package linux

import (
	"maps"
	"slices"
	"strings"

	"fulmen/native"
)

const hwmon = "sys/class/hwmon/"

// cpuSensors and gpuSensors are the names under which drivers give the
// temperatures of a processor and of a GPU.
func cpuSensors() []string {
	return []string{"coretemp", "k10temp", "zenpower", "cpu_thermal", "soc_thermal", "package_thermal"}
}

func gpuSensors() []string {
	return []string{"amdgpu", "radeon", "nouveau", "i915", "xe", "gpu_thermal"}
}

// setHeat reads every sensor and fan that has a driver.
func (t tree) setHeat(sys *native.System) {
	folders := t.names("sys/class/hwmon")
	if len(folders) == 0 {
		sys.Unknown.Add("fans", native.ReasonNoHardware.With("no hwmon sensors"))
	} else {
		sys.Fans = []native.Fan{}
	}
	for _, folder := range folders {
		driver, err := t.text(hwmon + folder + "/name")
		if err != nil {
			driver = folder
		}
		for _, file := range t.names(hwmon + folder) {
			item, ok := strings.CutSuffix(file, "_input")
			switch {
			case ok && strings.HasPrefix(item, "temp"):
				t.addTemperature(sys, driver, hwmon+folder+"/"+item)
			case ok && strings.HasPrefix(item, "fan"):
				sys.Fans = append(sys.Fans, t.fan(driver, hwmon+folder+"/"+item))
			}
		}
	}
	if len(sys.Temperatures) == 0 {
		sys.Unknown.Add("temperatures", native.ReasonNoHardware.With("no temperature sensors"))
	}
	if sys.CPUTemperatureCelsius == nil {
		sys.Unknown.Add("cpu_temperature_celsius", native.ReasonNoHardware.With("no sensor of a known processor driver"))
	}
	if sys.GPUTemperatureCelsius == nil {
		sys.Unknown.Add("gpu_temperature_celsius", native.ReasonNoHardware.With("no sensor of a known GPU driver"))
	}
}

// sensorName is the driver's name and the label that it gives, else the number.
func (t tree) sensorName(driver, sensor string) string {
	label, err := t.text(sensor + "_label")
	if err != nil || label == "" {
		label = sensor[strings.LastIndexByte(sensor, '/')+1:]
	}
	return driver + " " + label
}

func (t tree) addTemperature(sys *native.System, driver, sensor string) {
	// An input that is there and cannot be read is not connected.
	milli, err := t.number(sensor + "_input")
	if err != nil {
		return
	}
	sys.AddTemperature(t.sensorName(driver, sensor), float64(milli)/1000, slices.Contains(cpuSensors(), driver), slices.Contains(gpuSensors(), driver))
}

func (t tree) fan(driver, sensor string) native.Fan {
	fan := native.Fan{Name: t.sensorName(driver, sensor)}
	for _, speed := range []struct {
		field, file string
		hertz       **float64
	}{{"speed_hz", "_input", &fan.SpeedHz}, {"max_speed_hz", "_max", &fan.MaxSpeedHz}} {
		perMinute, err := t.number(sensor + speed.file)
		if err != nil {
			fan.Unknown.Add(speed.field, reason(sensor+speed.file, err, native.ReasonNoHardware))
			continue
		}
		*speed.hertz = new(float64(perMinute) / 60)
	}
	return fan
}

const powerSupply = "sys/class/power_supply/"

// setSupply says what the machine runs on, and how full its batteries are.
func (t tree) setSupply(sys *native.System) {
	var plugged, discharging, onUPS bool
	var charge batteryCharge
	supplies := 0
	for _, name := range t.names("sys/class/power_supply") {
		folder := powerSupply + name + "/"
		// A mouse's or a pen's own battery is of no interest.
		if scope, _ := t.text(folder + "scope"); scope == "Device" {
			continue
		}
		kind, _ := t.text(folder + "type")
		status, _ := t.text(folder + "status")
		online, _ := t.number(folder + "online")
		switch kind {
		case "Mains", "USB", "Wireless":
			supplies++
			plugged = plugged || online != 0
		case "Battery":
			supplies++
			discharging = discharging || status == "Discharging"
			t.addCharge(&charge, folder)
		case "UPS":
			supplies++
			onUPS = onUPS || status == "Discharging"
		}
	}
	switch {
	case onUPS:
		sys.PowerSource = native.PowerUPS
	case plugged:
		sys.PowerSource = native.PowerAC
	case discharging:
		sys.PowerSource = native.PowerBattery
	case supplies == 0:
		sys.Unknown.Add("power_source", native.ReasonNoHardware.With("Linux lists no power supply"))
	default:
		sys.Unknown.Add("power_source", native.ReasonNoOS.With("no power supply says that it is in use"))
	}
	switch {
	case charge.full > 0:
		sys.BatteryRatio = new(min(1, charge.now/charge.full))
	case charge.batteries > 0:
		sys.Unknown.Add("battery_ratio", native.ReasonNoOS.With("the battery does not report its charge"))
	default:
		sys.Unknown.Add("battery_ratio", native.ReasonNoHardware)
	}
}

// batteryCharge adds up batteries, each weighted by what it holds when full.
type batteryCharge struct {
	now, full float64
	batteries int
}

// addCharge reads energy (micro-watt-hours), else charge (micro-ampere-hours),
// else the percentage. Batteries of one machine are all of one kind.
func (t tree) addCharge(sum *batteryCharge, folder string) {
	sum.batteries++
	for _, pair := range [][2]string{{"energy_now", "energy_full"}, {"charge_now", "charge_full"}} {
		now, err1 := t.number(folder + pair[0])
		full, err2 := t.number(folder + pair[1])
		if err1 == nil && err2 == nil && now >= 0 && full > 0 {
			sum.now += float64(now)
			sum.full += float64(full)
			return
		}
	}
	if percent, err := t.number(folder + "capacity"); err == nil && percent >= 0 && percent <= 100 {
		sum.now += float64(percent)
		sum.full += 100
	}
}

// powercap is where the running average power limit (RAPL) counters of Intel's
// and AMD's processors are.
const powercap = "sys/class/powercap/"

// energyCounter is one domain's count of micro-joules.
type energyCounter struct {
	domain string // "package-0", "core", "psys"
	value  int64
	most   int64 // it begins again at zero after this; 0 is unknown
}

// energyCounters reads all domains. Without any it says why: since 2020 only
// root may read them, because the exact course of power gives secrets away.
// Folders of another control type (intel-rapl-mmio) count the same energy again.
func (t tree) energyCounters() (map[string]energyCounter, native.Reason) {
	why := native.ReasonNoHardware.With("the processor has no energy counters (RAPL)")
	counters := map[string]energyCounter{}
	for _, folder := range t.names("sys/class/powercap") {
		domain, err := t.text(powercap + folder + "/name")
		if err != nil || !strings.HasPrefix(folder, "intel-rapl:") {
			continue
		}
		value, err := t.number(powercap + folder + "/energy_uj")
		if err != nil {
			why = reason("energy_uj", err, why)
			continue
		}
		most, _ := t.number(powercap + folder + "/max_energy_range_uj")
		counters[folder] = energyCounter{domain: domain, value: value, most: most}
	}
	return counters, why
}

// isPackage, isCore and isWhole are the domains of a chip, of its cores, and of
// the whole machine.
func isPackage(domain string) bool { return strings.HasPrefix(domain, "package-") }
func isCore(domain string) bool    { return domain == "core" }
func isWhole(domain string) bool   { return domain == "psys" }

// setPowers makes means over the interval of two readings of the counters.
func setPowers(sys *native.System, last, next *sample, why native.Reason) {
	for _, power := range []struct {
		field string
		watts **float64
		of    func(domain string) bool
	}{
		{"package_power_watts", &sys.PackagePowerWatts, isPackage},
		{"cpu_power_watts", &sys.CPUPowerWatts, isCore},
		{"system_power_watts", &sys.SystemPowerWatts, isWhole},
	} {
		watts, absent := meanPower(last, next, power.of)
		if absent == native.ReasonNoHardware && len(next.energy) == 0 {
			absent = why
		}
		if absent != "" {
			sys.Unknown.Add(power.field, absent)
			continue
		}
		*power.watts = &watts
	}
}

func meanPower(last, next *sample, of func(string) bool) (float64, native.Reason) {
	absent := native.ReasonNoHardware
	sum := 0.0
	for _, folder := range slices.Sorted(maps.Keys(next.energy)) {
		counter := next.energy[folder]
		if !of(counter.domain) {
			continue
		}
		if last == nil || next.at <= last.at {
			return 0, native.ReasonNotYetRead
		}
		before, ok := last.energy[folder]
		spent := counter.value - before.value
		if spent < 0 {
			spent += counter.most
		}
		if !ok || spent < 0 {
			return 0, native.ReasonNotYetRead
		}
		sum += float64(spent) / 1e6
		absent = ""
	}
	if absent != "" {
		return 0, absent
	}
	return sum / (next.at - last.at).Seconds(), ""
}
