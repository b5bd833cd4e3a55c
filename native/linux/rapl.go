package linux

import (
	"maps"
	"slices"
	"strings"

	"fulmen/native"
)

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
	why := native.ReasonNoHardware.With("no RAPL")
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
