package darwin

import (
	"context"
	"os/exec"
	"strconv"
	"time"

	"fulmen/native"
)

// sample is a reading of what only counts up, kept to make rates.
type sample struct {
	at   time.Duration // on the boot clock
	busy int64
	all  int64
}

// restAfter is how long after a reading what it keeps open is closed.
const restAfter = 30 * time.Second

// system reads load, power and heat. Only whoever watches asks for it.
func (m *machine) system() *native.System {
	m.sampling.Lock()
	defer m.sampling.Unlock()
	defer m.restLater()
	s := &native.System{}
	interval := m.setLoad(s)
	m.setEnergy(s, interval)
	m.setGPUUse(s)
	m.setSensors(s)
	m.setThermal(s)
	m.setPower(s)
	m.setLowPower(s)
	return s
}

// restLater closes what readings keep open once nobody watches any more; the lock
// is held.
func (m *machine) restLater() {
	if m.resting != nil {
		m.resting.Stop()
	}
	m.resting = m.clock.AfterFunc(restAfter, func() {
		m.sampling.Lock()
		defer m.sampling.Unlock()
		m.last = nil // the next reading is a first one again
		m.meters.Rest()
	})
}

// setLoad compares the processors' tick counts with the last reading's, and returns the
// time between.
func (m *machine) setLoad(s *native.System) time.Duration {
	now := sample{at: m.clock.Boot()}
	ticks, err := m.meters.Ticks()
	malformed := false
	for _, key := range []string{"user", "system", "nice", "idle"} {
		n, ok := ticks[key].(int64)
		malformed = malformed || !ok || n < 0
		if now.all += n; key != "idle" {
			now.busy += n
		}
	}
	last := m.last
	m.last = &now
	var interval time.Duration
	if last != nil {
		interval = now.at - last.at
	}
	if interval > 0 {
		s.IntervalS = new(interval.Seconds())
	} else {
		s.Unknown.Add("interval_s", native.ReasonNotYetRead)
	}
	switch {
	case err != nil:
		s.Unknown.Add("cpu_use_ratio", whyNot(err))
	case malformed:
		s.Unknown.Add("cpu_use_ratio", native.ReasonSourceMalformed.With("the processors' tick counts"))
	case interval <= 0 || now.all <= last.all || now.busy < last.busy:
		s.Unknown.Add("cpu_use_ratio", native.ReasonNotYetRead)
	default:
		s.CPUUseRatio = new(min(1, float64(now.busy-last.busy)/float64(now.all-last.all)))
	}
	return interval
}

// gpu reads the GPU's entry: the class of Apple's own, or the one below every GPU.
func (m *machine) gpu(keys ...string) ([]entry, error) {
	found, err := m.frameworks.Services("AGXAccelerator", keys...)
	if err != nil || len(found) > 0 {
		return found, err
	}
	return m.frameworks.Services("IOAccelerator", keys...)
}

// setGPUUse takes the driver's own figure where the counters gave none.
func (m *machine) setGPUUse(s *native.System) {
	if s.GPUUseRatio != nil {
		return
	}
	gpu, err := m.gpu("PerformanceStatistics")
	setRead(gpu, err, func(e *entry) bool {
		percent, ok := listMap(e.properties["PerformanceStatistics"])["Device Utilization %"].(int64)
		if ok = ok && percent >= 0 && percent <= 100; ok {
			s.GPUUseRatio = new(float64(percent) / 100)
		}
		return ok
	}, &s.Unknown, "gpu_use_ratio")
}

// setThermal gives the system's pressure level in the words of its public states.
func (m *machine) setThermal(s *native.System) {
	level, err := m.meters.ThermalPressure()
	switch {
	case err != nil:
		s.Unknown.Add("thermal_state", whyNot(err))
	case level == 0:
		s.ThermalState = native.ThermalNominal
	case level == 1:
		s.ThermalState = native.ThermalFair
	case level == 2:
		s.ThermalState = native.ThermalSerious
	default:
		s.ThermalState = native.ThermalCritical
	}
}

// powerSources are the system's names of what it can run on.
var powerSources = map[string]native.PowerSource{
	"AC Power": native.PowerAC, "Battery Power": native.PowerBattery, "UPS Power": native.PowerUPS,
}

func (m *machine) setPower(s *native.System) {
	of, err := m.meters.PowerSource()
	if err != nil {
		s.Unknown.Add("power_source", whyNot(err))
		s.Unknown.Add("battery_ratio", whyNot(err))
		return
	}
	if s.PowerSource = powerSources[listText(of, "type")]; s.PowerSource == "" {
		s.Unknown.Add("power_source", native.ReasonSourceMalformed.With("unknown power source"))
	}
	sources, _ := of["sources"].([]any)
	for _, source := range sources {
		now, hasNow := listMap(source)["Current Capacity"].(int64)
		full, hasFull := listMap(source)["Max Capacity"].(int64)
		if listText(source, "Type") == "InternalBattery" && hasNow && hasFull && full > 0 && now >= 0 {
			s.BatteryRatio = new(min(1, float64(now)/float64(full)))
			return
		}
	}
	s.Unknown.Add("battery_ratio", native.ReasonNoHardware)
}

// powerSettingsKey is where the dynamic store has the power settings of the source
// in use, and lowPowerKey the mode in them: 0 automatic, 1 low, 2 high.
const (
	powerSettingsKey = "State:/IOKit/PowerManagement/CurrentSettings"
	lowPowerKey      = "LowPowerMode"
	lowPowerLow      = 1
)

// setLowPower asks twice, since Apple documents neither for programs without a
// user's session (NSProcessInfo, which it does document, is Foundation's).
//
// The state of com.apple.system.lowpowermode is what NSProcessInfo reads: several
// of Apple's own programs do likewise, and it follows the automatic mode of a low
// battery. But a name that nobody ever set has the state 0 too, so 0 alone does not
// say that there is such a mode. The key of the settings is in Apple's published
// sources; that its numbers are those of pmset powermode is said by public
// programs alone, and not yet seen by us on a Mac (docs/macos-checklist.md). So on
// is what either says, off what the settings have and neither calls on.
func (m *machine) setLowPower(s *native.System) {
	state, stateErr := m.meters.LowPower()
	settings, err := m.meters.PowerSettings()
	value, hasMode := listMap(settings[powerSettingsKey])[lowPowerKey]
	mode, isNumber := value.(int64)
	switch {
	case stateErr == nil && state != 0, isNumber && mode == lowPowerLow:
		s.LowPowerMode = new(true)
	case isNumber && mode >= 0 && mode <= 2 && stateErr == nil:
		s.LowPowerMode = new(false)
	case hasMode && stateErr == nil:
		s.Unknown.Add("low_power_mode", native.ReasonSourceMalformed.With(lowPowerKey))
	case err != nil:
		s.Unknown.Add("low_power_mode", whyNot(err))
	case stateErr != nil:
		s.Unknown.Add("low_power_mode", whyNot(stateErr))
	default:
		s.Unknown.Add("low_power_mode", native.ReasonNoHardware.With("the power settings have no "+lowPowerKey))
	}
}

// gpuUse is the driver's own figure, which needs no counters.
func (m *machine) gpuUse() (float64, error) {
	var s native.System
	if m.setGPUUse(&s); s.GPUUseRatio == nil {
		return 0, native.Unsupported(native.FeatureProcesses, s.Unknown["gpu_use_ratio"])
	}
	return *s.GPUUseRatio, nil
}

// sampleProgram looks at a process every millisecond for so many seconds, and prints the tree
// of calls of each thread. A process that ends meanwhile is no error.
const sampleProgram, sampleSeconds = "/usr/bin/sample", "1"

// stacks is what the threads of a process are in.
func stacks(ctx context.Context, process int) (string, error) {
	text, err := exec.CommandContext(ctx, sampleProgram, strconv.Itoa(process), sampleSeconds, "-mayDie").Output()
	return string(text), err
}
