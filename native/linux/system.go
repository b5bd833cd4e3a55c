package linux

import (
	"sync"
	"time"

	"fulmen/native"
)

// sampler reads load, power and heat and keeps what the next reading needs to
// make rates.
type sampler struct {
	mu   sync.Mutex
	last *sample
}

// sample is one reading of what only counts up.
type sample struct {
	at     time.Duration // on the boot clock
	times  cpuTimes
	energy map[string]energyCounter // by folder of the counter
}

func (s *sampler) read(t tree, now time.Duration) *native.System {
	sys := &native.System{}
	stat, statError := t.bytes("proc/stat")
	next := &sample{at: now, times: parseStat(stat)}
	var energyWhy native.Reason
	next.energy, energyWhy = t.energyCounters()

	s.mu.Lock()
	last := s.last
	s.last = next
	s.mu.Unlock()

	interval := 0.0
	if last != nil {
		interval = (next.at - last.at).Seconds()
	}
	if interval > 0 {
		sys.IntervalS = &interval
	} else {
		sys.Unknown.Add("interval_s", native.ReasonNotYetRead)
	}
	switch {
	case statError != nil:
		sys.Unknown.Add("cpu_use_ratio", reason("stat", statError, native.ReasonNoOS))
	case next.times.total == 0:
		sys.Unknown.Add("cpu_use_ratio", native.ReasonSourceMalformed.With("proc/stat has no line for all processors"))
	default:
		setCPUUse(sys, last, next)
	}
	setPowers(sys, last, next, energyWhy)
	t.setHeat(sys)
	t.setSupply(sys)
	t.setProfile(sys)
	for _, field := range []string{"gpu_use_ratio", "gpu_load_ratio", "gpu_frequency_hz", "gpu_power_watts"} {
		sys.Unknown.Add(field, native.ReasonNoPlatform.With("Linux does not report the state of GPUs"))
	}
	sys.Unknown.Add("thermal_state", native.ReasonNoOS.With("Linux has no such state"))
	return sys
}

// setCPUUse compares two readings. The kernel's ticks are 10 ms or so apart: in
// a shorter interval there may be none.
func setCPUUse(sys *native.System, last, next *sample) {
	if last == nil || next.times.total <= last.times.total || next.times.busy < last.times.busy {
		sys.Unknown.Add("cpu_use_ratio", native.ReasonNotYetRead)
		return
	}
	busy, total := next.times.busy-last.times.busy, next.times.total-last.times.total
	// Waiting for disks can be taken back, so that the busy part seems to pass
	// the whole.
	sys.CPUUseRatio = new(min(1, float64(busy)/float64(total)))
}

// setProfile takes the profile that a person chose in the desktop's settings.
func (t tree) setProfile(sys *native.System) {
	const file = "sys/firmware/acpi/platform_profile"
	profile, err := t.text(file)
	switch {
	case err != nil:
		sys.Unknown.Add("low_power_mode", reason(file, err, native.ReasonNoHardware.With("the firmware has no power profiles")))
	default:
		sys.LowPowerMode = new(profile == "low-power")
	}
}
