package linux

import (
	"bytes"
	"strconv"
	"strings"
	"sync"
	"time"

	"fulmen/native"
)

// The levels of pressure; the package comment says how they are meant.
const (
	warningRatio  = 0.15 // of the time, some task waits
	criticalRatio = 0.10 // of the time, all tasks wait
	// stallHold is how long an announced stall counts. It is as long as the
	// kernel's shortest average.
	stallHold = 10 * time.Second
)

// stallRatios are the parts (0 to 1) of the last 10 s in which some task, and
// all tasks, waited for memory. Nil is unknown: the line was not there.
type stallRatios struct{ some, full *float64 }

// parsePressure reads a file of pressure-stall information: "some avg10=1.23
// avg60=... total=...", and a line "full" of the same form. Averages are in
// percent.
func parsePressure(data []byte) stallRatios {
	var ratios stallRatios
	for line := range bytes.Lines(data) {
		fields := strings.Fields(string(line))
		if len(fields) == 0 {
			continue
		}
		for _, field := range fields[1:] {
			value, ok := strings.CutPrefix(field, "avg10=")
			percent, err := strconv.ParseFloat(value, 64)
			if !ok || err != nil || !(percent >= 0 && percent <= 100) {
				continue
			}
			switch fields[0] {
			case "some":
				ratios.some = new(percent / 100)
			case "full":
				ratios.full = new(percent / 100)
			}
		}
	}
	return ratios
}

// pressureFile is the file that counts: the container's where a limit makes it
// one, else the machine's.
func (t tree) pressureFile() string {
	const confined = groupFolder + "memory.pressure"
	if _, ok := t.memoryGroup(); ok && t.exists(confined) {
		return confined
	}
	return "proc/pressure/memory"
}

// setPressure reads the averages and takes account of stalls that the kernel
// announced, which the averages show seconds later.
func (m *machine) setPressure(memory *native.Memory) {
	file := m.tree.pressureFile()
	data, err := m.tree.bytes(file)
	ratios := parsePressure(data)
	if err != nil || ratios.some == nil {
		why := native.ReasonSourceMalformed.With("pressure: no avg10")
		if err != nil {
			why = reason("pressure", err, native.ReasonNoOS.With("the kernel keeps no pressure-stall information"))
		}
		memory.Unknown.Add("pressure", why)
		memory.Unknown.Add("pressure_stall_ratio", why)
		return
	}
	memory.PressureStallRatio = ratios.some
	memory.Pressure = m.stalls.level(ratios, m.clock.Boot())
}

// stalls remembers when the kernel last announced a stall, on the boot clock.
type stalls struct {
	hold time.Duration // how long one counts: stallHold

	mu         sync.Mutex
	some, full time.Duration
}

func (s *stalls) note(full bool, now time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.some = now; full {
		s.full = now
	}
}

func (s *stalls) level(ratios stallRatios, now time.Duration) native.Pressure {
	s.mu.Lock()
	defer s.mu.Unlock()
	recent := func(at time.Duration) bool { return at > 0 && now-at < s.hold }
	switch {
	case recent(s.full), ratios.full != nil && *ratios.full >= criticalRatio:
		return native.PressureCritical
	case recent(s.some), ratios.some != nil && *ratios.some >= warningRatio:
		return native.PressureWarning
	}
	return native.PressureNormal
}
