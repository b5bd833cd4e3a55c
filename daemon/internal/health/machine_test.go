package health

import (
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest"
)

// machineRig is a Mac's conditions, with a board and a clock moved by hand.
func machineRig(t *testing.T) (*Machine, *board, *nativetest.Clock) {
	h, b, _ := rig()
	clock := nativetest.NewClock(time.Unix(0, 0))
	return NewMachine(logging(h, loud(t)), clock, func() string { return "ada" }), b, clock
}

// What a Mac says of itself, and the condition of it.
func TestStrains(t *testing.T) {
	battery := func(source api.PowerSource, ratio ...float64) api.System {
		s := api.System{PowerSource: source}
		for _, r := range ratio {
			s.BatteryRatio = &r
		}
		return s
	}
	for name, c := range map[string]struct {
		system api.System
		memory api.Memory
		want   []string
	}{
		"nothing known":       {},
		"fair":                {system: api.System{ThermalState: api.ThermalFair}, memory: api.Memory{Pressure: api.PressureNormal}},
		"serious":             {system: api.System{ThermalState: api.ThermalSerious}, want: []string{"thermal_pressure"}},
		"critical":            {system: api.System{ThermalState: api.ThermalCritical}, want: []string{"thermal_critical"}},
		"short":               {memory: api.Memory{Pressure: api.PressureWarning}, want: []string{"memory_pressure"}},
		"very short":          {memory: api.Memory{Pressure: api.PressureCritical}, want: []string{"memory_critical"}},
		"low":                 {system: battery(api.PowerBattery, 0.2), want: []string{"battery_low"}},
		"empty":               {system: battery(api.PowerBattery, 0), want: []string{"battery_low"}},
		"not low":             {system: battery(api.PowerBattery, 0.21)},
		"charging":            {system: battery(api.PowerMains, 0.1)},
		"on a UPS":            {system: battery(api.PowerUPS, 0.1)},
		"a charge not known":  {system: battery(api.PowerBattery)},
		"a source not known":  {system: battery("", 0.1)},
		"a state not of ours": {system: api.System{ThermalState: "melting"}},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			m, b, _ := machineRig(t)
			m.System(c.system)
			m.Memory(c.memory)
			is.Equal(b.names(), append([]string{}, c.want...))
			for _, shown := range b.docs {
				is.True(strings.HasSuffix(shown.Text, ": ada.") && shown.Remedy != "") // which Mac, and what to do
			}
		})
	}
}

// What gets worse is said at once; what gets better once it has been for a while.
func TestStrainsDoNotFlap(t *testing.T) {
	is := is.New(t)
	m, b, clock := machineRig(t)
	heat := func(state api.ThermalState) { m.System(api.System{ThermalState: state}) }
	heat(api.ThermalSerious)
	since := b.docs["thermal_pressure"].Since
	for range 5 { // comes and goes
		heat(api.ThermalFair)
		clock.Advance(easedFor / 2)
		heat(api.ThermalFair)
		clock.Advance(easedFor/2 - 1)
		is.Equal(b.names(), []string{"thermal_pressure"})
		heat(api.ThermalSerious)
	}
	is.Equal(b.docs["thermal_pressure"].Since, since)
	is.Equal(b.puts, 1)
	heat(api.ThermalCritical)
	is.Equal(b.names(), []string{"thermal_critical"})
	heat(api.ThermalSerious)
	is.Equal(b.names(), []string{"thermal_critical"})
	clock.Advance(easedFor)
	is.Equal(b.names(), []string{"thermal_pressure"}) // better, and not good
	heat("")                                          // not known any more
	clock.Advance(easedFor - 1)
	heat(api.ThermalNominal) // since then it is no worse
	clock.Advance(1)
	is.Equal(b.names(), []string{})
}
