//go:build cgo && linux && darwinsim

package simmac_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native/darwin"
	"fulmen/native/darwin/simfw"
	"fulmen/native/nativetest"
)

// wire is a machine whose announcements are read one at a time. The system's thread
// waits with each until it is read, so that what comes meanwhile comes at once.
type wire struct {
	t     *testing.T
	m     *simfw.Machine
	lines chan string
	id    uint64
}

// listening gives a machine that setUp has filled and that is listened to.
func listening(t *testing.T, setUp func(*simfw.Machine)) *wire {
	t.Helper()
	is := is.New(t)
	clean(t)
	w := &wire{t: t, m: simfw.New(), lines: make(chan string), id: 0x500}
	is.NoErr(w.m.AddEntry(true, 0, 0x10, "options", "", "IODTNVRAM", map[string]any{}))
	if setUp != nil {
		setUp(w.m)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		of := darwin.Simulated{Machine: w.m, Clock: nativetest.NewClock(time.Unix(0, 0)), Interfaces: func() []darwin.SimulatedInterface { return nil }}
		ended <- of.LogNotifications(ctx, w)
		close(w.lines)
	}()
	t.Cleanup(func() {
		cancel()
		for line := range w.lines {
			t.Errorf("announced besides: %s", line)
		}
		is.NoErr(<-ended)
		w.m.Close()
	})
	return w
}

// Write waits until the line is read.
func (w *wire) Write(line []byte) (int, error) {
	w.lines <- strings.TrimSuffix(string(line), "\n")
	return len(line), nil
}

func (w *wire) next() string {
	w.t.Helper()
	select {
	case line := <-w.lines:
		return line
	case <-time.After(time.Minute):
		w.t.Fatal("nothing is announced")
		return ""
	}
}

// receives demands the next announcements, and nothing between them.
func (w *wire) receives(want ...string) {
	w.t.Helper()
	for _, one := range want {
		got := strings.Join(strings.Fields(w.next())[1:], " ") // without the time
		if got != one {
			w.t.Fatalf("announced:\n%s\nwant:\n%s", got, one)
		}
	}
}

// begin waits until all is armed.
func (w *wire) begin() *wire {
	w.t.Helper()
	if got := w.next(); got != "listening" {
		w.t.Fatal(got)
	}
	return w
}

func (w *wire) add(class string, properties map[string]any) uint64 {
	w.t.Helper()
	w.id++
	is.New(w.t).NoErr(w.m.AddEntry(false, 0, w.id, class, "", class, properties))
	return w.id
}

func (w *wire) change(deviceTree bool, id uint64, properties map[string]any, message uint32) {
	w.t.Helper()
	is.New(w.t).NoErr(w.m.SetProperties(deviceTree, id, properties, message))
}

// settle sends an announcement that nothing else causes: what was to be silent was, if
// it comes first.
func (w *wire) settle() {
	w.t.Helper()
	w.m.SetStore("Setup:/System", map[string]any{"ComputerName": fmt.Sprint(w.id)})
	w.receives("configd.changed Setup:/System id 0x0 message 0x0")
}

// classes are what must be announced when it comes and goes, and whether its own
// changes are; the last column what a service of it has that it is told apart by.
var classes = []struct {
	base, class string
	interest    bool
	properties  map[string]any
}{
	{"IOThunderboltController", "IOThunderboltControllerType7", false, nil},
	{"IOThunderboltSwitch", "IOThunderboltSwitchIntelJHL9580", false, nil},
	{"IOThunderboltXDomainLink", "IOThunderboltXDomainLink", false, nil},
	{"IOThunderboltXDomainService", "IOThunderboltXDomainService", false, nil},
	{"IOThunderboltPort", "IOThunderboltPort", true, map[string]any{"Adapter Type": 1}},
	{"IOThunderboltPort", "IOThunderboltPort", true, map[string]any{"Adapter Type": "1", "Description": "Thunderbolt Port"}},
	{"IOThunderboltPort", "IOThunderboltPort", false, map[string]any{"Adapter Type": 0x100101, "Description": "PCIe Adapter"}},
	{"AppleThunderboltIPPort", "AppleThunderboltIPPort", true, nil},
	{"IOEthernetInterface", "IOEthernetInterface", false, nil},
	{"AppleThunderboltRDMAInterface", "AppleThunderboltRDMAInterface", true, nil},
	{"AppleThunderboltRDMAPeerInterface", "AppleThunderboltRDMAPeerInterface", false, nil},
}

// TestEachClassIsAnnounced: each by itself, when it comes, changes, goes and comes
// again, and with two that come at once.
func TestEachClassIsAnnounced(t *testing.T) {
	for i, c := range classes {
		t.Run(fmt.Sprint(i, c.class), func(t *testing.T) {
			w := listening(t, nil).begin()
			for range 2 {
				id := w.add(c.class, c.properties)
				w.receives(fmt.Sprintf("iokit.matched %s id 0x%x message 0x0", c.base, id))
				for range 2 {
					w.change(false, id, c.properties, simfw.PropertyChange)
					if c.interest {
						w.receives(fmt.Sprintf("iokit.interest %s id 0x%x message 0x%x", c.base, id, simfw.PropertyChange))
					}
				}
				w.settle()
				is.New(t).NoErr(w.m.RemoveEntry(false, id))
				w.receives(fmt.Sprintf("iokit.terminated %s id 0x%x message 0x0", c.base, id))
			}
			// The second comes while the first is not read yet.
			both := []uint64{w.add(c.class, c.properties), w.add(c.class, c.properties)}
			for _, id := range both {
				w.receives(fmt.Sprintf("iokit.matched %s id 0x%x message 0x0", c.base, id))
			}
			for _, id := range both {
				is.New(t).NoErr(w.m.RemoveEntry(false, id))
			}
			for _, id := range both {
				w.receives(fmt.Sprintf("iokit.terminated %s id 0x%x message 0x0", c.base, id))
			}
			w.settle()
		})
	}
}

// TestWhatWasThereIsNoNews: what was there before is announced when it changes and
// goes, and not when the listening begins.
func TestWhatWasThereIsNoNews(t *testing.T) {
	is := is.New(t)
	id := func(i int) uint64 { return uint64(0x100 + i) }
	w := listening(t, func(m *simfw.Machine) {
		for i, c := range classes {
			is.NoErr(m.AddEntry(false, 0, id(i), c.class, "", c.class, c.properties))
		}
	}).begin()
	w.settle()
	for i, c := range classes {
		if c.interest {
			w.change(false, id(i), c.properties, simfw.PropertyChange)
			w.receives(fmt.Sprintf("iokit.interest %s id 0x%x message 0x%x", c.base, id(i), simfw.PropertyChange))
		}
		is.NoErr(w.m.RemoveEntry(false, id(i)))
		w.receives(fmt.Sprintf("iokit.terminated %s id 0x%x message 0x0", c.base, id(i)))
	}
	w.settle()
}

// TestTheSwitchIsAnnounced: the firmware's variables change, with whatever message.
func TestTheSwitchIsAnnounced(t *testing.T) {
	w := listening(t, nil).begin()
	for _, message := range []uint32{simfw.PropertyChange, 0xE0000110} {
		w.change(true, 0x10, map[string]any{"rdma-enable": []byte("1")}, message)
		w.receives(fmt.Sprintf("iokit.interest IODTNVRAM id 0x10 message 0x%x", message))
	}
	w.settle()
}

// TestEachKeyIsAnnounced: each key of the dynamic store that tells of the network or of
// the names, each by itself, several at once, and none besides.
func TestEachKeyIsAnnounced(t *testing.T) {
	const service = "/Network/Service/6E1E0F1C-0000-4000-8000-000000000001"
	w := listening(t, nil).begin()
	announced := func(key string) string { return "configd.changed " + key + " id 0x0 message 0x0" }
	keys := []string{
		"State:/Network/Interface", "State:/Network/Interface/en5/Link", "State:/Network/Interface/en5/IPv4", "State:/Network/Interface/en5/IPv6",
		"State:/Network/Global/IPv4", "State:/Network/Global/IPv6", "State:" + service + "/IPv4", "State:" + service + "/DHCP",
		"Setup:/Network/Global/IPv4", "Setup:" + service, "Setup:" + service + "/Interface", "Setup:" + service + "/IPv4", "Setup:" + service + "/IPv6",
		"Setup:/Network/HostNames", "Setup:/System",
	}
	for _, key := range keys {
		for _, value := range []any{map[string]any{"a": 1}, map[string]any{"a": 2}, nil} { // new, changed, gone
			w.m.SetStore(key, value)
			w.receives(announced(key))
		}
	}
	for _, key := range []string{"State:/Network/Interface/en5/AirPort", "Setup:/Network/Interface/en5/Link", "State:/Network/Global/DNS", "Setup:/Network/Service", "com.apple.network"} {
		w.m.SetStore(key, map[string]any{})
	}
	w.settle()
	w.m.SetStore(keys[0], "held until it is read")
	for _, key := range keys[1:] {
		w.m.SetStore(key, "at once")
	}
	for _, key := range keys {
		w.receives(announced(key))
	}
}

// TestTheStoredConfigurationIsAnnounced.
func TestTheStoredConfigurationIsAnnounced(t *testing.T) {
	w := listening(t, nil).begin()
	w.m.NotifyStored(false)
	w.receives("preferences.committed id 0x0 message 0x1")
	w.m.NotifyStored(true)
	w.receives("preferences.applied id 0x0 message 0x2")
	w.m.SetStored("Sets", map[string]any{})
	w.receives("preferences.applied id 0x0 message 0x3")
}

// TestPowerIsAnnounced: and what the system waits for is answered.
func TestPowerIsAnnounced(t *testing.T) {
	w := listening(t, nil).begin()
	allowed := make(chan int64, 10)
	w.m.SetHooks(simfw.Hooks{Allowed: func(notice int64) { allowed <- notice }})
	answered := func(want int64) {
		t.Helper()
		select {
		case got := <-allowed:
			is.New(t).Equal(got, want)
		case <-time.After(time.Minute):
			t.Fatal("the system waits for an answer")
		}
	}
	for i, m := range []struct {
		message  uint32
		event    string
		answered bool
	}{
		{0xE0000270, "", true}, // may it sleep
		{0xE0000280, "will_sleep", true},
		{0xE0000250, "will_power_off", true},
		{0xE0000310, "will_power_off", true}, // restart
		{0xE0000300, "awake", false},
		{0xE0000320, "", false}, // it begins to power on
	} {
		w.m.PowerMessage(m.message, int64(70+i))
		if m.event != "" {
			id := int64(70 + i)
			if !m.answered {
				id = 0
			}
			w.receives(fmt.Sprintf("power.%s id 0x%x message 0x%x", m.event, id, m.message))
		}
		if m.answered {
			answered(int64(70 + i))
		}
	}
	w.settle()
	is.New(t).Equal(len(allowed), 0)
}

// TestSourceHeatAndPressureAreAnnounced.
func TestSourceHeatAndPressureAreAnnounced(t *testing.T) {
	w := listening(t, nil).begin()
	for range 2 {
		w.m.SetPowerSource(map[string]any{"type": "AC Power", "sources": []any{}})
		w.receives("power_source.changed id 0x0 message 0x0")
	}
	for range 2 {
		w.m.Notify("com.apple.system.thermalpressurelevel", 1)
		w.receives("thermal.changed id 0x0 message 0x0")
	}
	for _, level := range []int{2, 4, 1} {
		reported := make(chan struct{})
		go func() { // the handler runs on the thread of who sets it
			defer close(reported)
			w.m.SetPressure(level)
		}()
		w.receives(fmt.Sprintf("pressure.changed id 0x0 message 0x%x", level))
		<-reported
	}
	w.settle()
}

// TestASourceThatCannotBeArmed is silent, and the others are not.
func TestASourceThatCannotBeArmed(t *testing.T) {
	w := listening(t, func(m *simfw.Machine) { m.Arm(simfw.FaultStore, 2) })
	for _, want := range []string{"configd: silent: ", "preferences: silent: "} {
		if got := w.next(); !strings.HasPrefix(got, want) {
			t.Fatal(got)
		}
	}
	w.begin()
	id := w.add("IOThunderboltXDomainLink", nil)
	w.receives(fmt.Sprintf("iokit.matched IOThunderboltXDomainLink id 0x%x message 0x0", id))
}
