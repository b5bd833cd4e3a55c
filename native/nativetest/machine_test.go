package nativetest_test

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/nativetest"
)

func facts() native.Snapshot {
	return native.Snapshot{
		Memory: &native.Memory{TotalBytes: new(int64(1 << 30)), Pressure: native.PressureNormal, Unknown: native.Reasons{
			"used_bytes": native.ReasonNotYetRead, "wired_bytes": native.ReasonNotYetRead, "compressed_bytes": native.ReasonNotYetRead,
			"available_bytes": native.ReasonNotYetRead, "swap_total_bytes": native.ReasonNotYetRead, "swap_used_bytes": native.ReasonNotYetRead,
			"pressure_stall_ratio": native.ReasonNotYetRead, "gpu_working_set_bytes": native.ReasonNoHardware, "gpu_used_bytes": native.ReasonNoHardware}},
		Network: &native.Network{
			Interfaces: []native.Interface{{Name: "en2", Type: native.InterfaceThunderbolt, Index: 6, Addresses: []native.InterfaceAddress{},
				Up: new(true), Link: new(true), MTUBytes: new(int64(1500)), Expensive: new(false), SpeedBitsPerS: new(int64(80e9))}},
			Bridges:  []native.Bridge{{Name: "bridge0", KernelMembers: []string{"en2", "en3"}, StoredMembers: []string{"en2", "en3"}, Active: new(true)}},
			Services: []native.NetworkService{}, PrimaryInterface: "en0",
		},
	}
}

func machine() *nativetest.Machine {
	return nativetest.NewMachine(nativetest.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)), facts())
}

func TestConform(t *testing.T) {
	nativetest.Conform(t, func(*testing.T) native.Platform { return machine().Platform() })
}

func TestHintThenTruth(t *testing.T) {
	is := is.New(t)
	m := machine()
	var hints []native.Hint
	stop, err := m.Watch(func(h native.Hint) { hints = append(hints, h) })
	is.NoErr(err)
	m.Change(func(s *native.Snapshot) { s.Memory.Pressure = native.PressureCritical }, native.AreaMemory)
	is.Equal(len(hints), 1)
	is.Equal(hints[0].Area, native.AreaMemory)
	is.Equal(hints[0].BootUS, time.Hour.Microseconds())
	s, err := m.Snapshot(t.Context(), native.AreaMemory)
	is.NoErr(err)
	is.Equal(s.Memory.Pressure, native.PressureCritical)

	s.Memory.Pressure = native.PressureNormal // the reader's copy
	again, err := m.Snapshot(t.Context(), native.AreaMemory)
	is.NoErr(err)
	is.Equal(again.Memory.Pressure, native.PressureCritical)

	is.NoErr(stop())
	m.Change(func(*native.Snapshot) {}, native.AreaMemory)
	is.Equal(len(hints), 1)
}

func TestClock(t *testing.T) {
	is := is.New(t)
	clock := nativetest.NewClock(time.Unix(0, 0))
	var ran []int
	clock.AfterFunc(3*time.Second, func() { ran = append(ran, 3) })
	clock.AfterFunc(time.Second, func() {
		ran = append(ran, 1)
		clock.AfterFunc(time.Second, func() { ran = append(ran, 2) }) // due on the way
	})
	stopped := clock.AfterFunc(time.Second, func() { t.Error("stopped and yet run") })
	is.True(stopped.Stop())
	is.True(!stopped.Stop())
	clock.Advance(4 * time.Second)
	is.Equal(ran, []int{1, 2, 3})
	is.Equal(clock.Boot(), time.Hour+4*time.Second)

	clock.AfterFunc(time.Minute, func() { ran = append(ran, 4) })
	clock.Sleep(time.Hour)
	is.Equal(len(ran), 3) // asleep, nothing runs
	clock.Recheck()
	is.Equal(len(ran), 4)
	boot := clock.Boot()
	clock.Step(-24 * time.Hour)
	is.Equal(clock.Boot(), boot) // a person's clock does not move leases
	is.Equal(clock.Pending(), 0)
}
