package darwin

import (
	"bufio"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/nativetest"
)

// recorded is a kernel in memory, with the values of a machine.
type recorded map[string][]byte

// Text implements sysctl.
func (r recorded) Text(name string) (string, error) {
	raw, err := r.Raw(name)
	return strings.TrimRight(string(raw), "\x00"), err
}

// Raw implements sysctl.
func (r recorded) Raw(name string) ([]byte, error) {
	raw, there := r[name]
	if !there {
		return nil, errNoValue
	}
	return raw, nil
}

func four(n uint32) []byte  { return binary.LittleEndian.AppendUint32(nil, n) }
func eight(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

// studio is a Mac Studio with an M3 Ultra, by the facts.
func studio() recorded {
	return recorded{
		"hw.model": []byte("Mac15,14\x00"), "machdep.cpu.brand_string": []byte("Apple M3 Ultra\x00"),
		"kern.osproductversion": []byte("26.2\x00"), "kern.osversion": []byte("25C56\x00"), "kern.bootsessionuuid": []byte("0000\x00"),
		"hw.physicalcpu": four(28), "hw.perflevel0.physicalcpu": four(20), "hw.memsize": eight(96 << 30),
		"kern.boottime":                       append(eight(1_700_000_000), eight(0)...),
		"vm.swapusage":                        append(append(append(eight(2<<30), eight(1<<30)...), eight(1<<30)...), eight(16384)...),
		"kern.memorystatus_vm_pressure_level": four(2),
	}
}

func host() (string, error) { return "adas-studio.local", nil }

func TestIdentity(t *testing.T) {
	is := is.New(t)
	id := withoutC(nil).identity()
	is.Equal(native.CheckUnknown(id), nil)
	is.Equal(id.Name, "adas-studio")
	is.Equal(id.Model, "Mac15,14")
	is.Equal(id.Chip, "Apple M3 Ultra")
	is.Equal(id.OSBuild, "25C56")
	is.Equal([]int{*id.CPUCores, *id.CPUPerformanceCores, *id.CPUEfficiencyCores}, []int{28, 20, 8})
	is.Equal(id.BootedAt.Unix(), int64(1_700_000_000))
}

func TestMemory(t *testing.T) {
	is := is.New(t)
	m := withoutC(nil).memory()
	is.Equal(native.CheckUnknown(m), nil)
	is.Equal(*m.TotalBytes, int64(96<<30))
	is.Equal(*m.SwapTotalBytes, int64(2<<30))
	is.Equal(*m.SwapUsedBytes, int64(1<<30))
	is.Equal(m.Pressure, native.PressureWarning)
	is.True(m.UsedBytes == nil) // unknown, not 0
}

// Whatever value is missing or malformed, the rest is told and the gap has a
// reason.
func TestAnyValueCanBeMissingOrMalformed(t *testing.T) {
	for name := range studio() {
		for what, raw := range map[string][]byte{"missing": nil, "empty": {}, "short": {1}, "odd": {1, 2, 3, 4, 5}, "ones": []byte(strings.Repeat("\xff", 32))} {
			t.Run(name+" "+what, func(t *testing.T) {
				is := is.New(t)
				values := studio()
				values[name] = raw
				if raw == nil {
					delete(values, name)
				}
				m := withoutC(nil)
				m.kernel = values
				is.Equal(native.CheckUnknown(m.identity()), nil)
				is.Equal(native.CheckUnknown(m.memory()), nil)
			})
		}
	}
}

// withoutC is a studio of which only sysctl is told.
func withoutC(clock native.Clock) *machine {
	m := newMachine(&machine{
		clock: clock, kernel: studio(), hostName: host, frameworks: noFrameworks{}, meters: noMeters{}, verbs: noVerbs{},
		connect: func() (responder, error) { return nil, errNoFrameworks },
	}, func(func(announcement)) (line, error) { return nil, errNoFrameworks })
	m.actions = &actions{machine: m}
	return m
}

func nobodyHeldOff(string) (func() error, error) {
	return nil, native.Unsupported(native.FeatureKeepAwake, native.ReasonNoPlatform)
}

// errNoFrameworks is a build without C.
var errNoFrameworks = errors.New("built without cgo")

// noFrameworks is a build without C: everything fails, with the reason.
type noFrameworks struct{}

func (noFrameworks) Thunderbolt() ([]entry, error)               { return nil, errNoFrameworks }
func (noFrameworks) NetworkPorts() ([]entry, error)              { return nil, errNoFrameworks }
func (noFrameworks) Places() ([]entry, error)                    { return nil, errNoFrameworks }
func (noFrameworks) Services(string, ...string) ([]entry, error) { return nil, errNoFrameworks }
func (noFrameworks) At(string, ...string) ([]entry, error)       { return nil, errNoFrameworks }
func (noFrameworks) Store() (map[string]any, error)              { return nil, errNoFrameworks }
func (noFrameworks) Stored() (map[string]any, error)             { return nil, errNoFrameworks }
func (noFrameworks) Interfaces() ([]any, error)                  { return nil, errNoFrameworks }
func (noFrameworks) BridgeMembers(string) ([]string, error)      { return nil, errNoFrameworks }

// noVerbs is a build without C.
type noVerbs struct{}

func (noVerbs) Devices() ([]any, error) { return nil, errNoFrameworks }
func (noVerbs) Last() ([]any, error)    { return nil, errNoFrameworks }

// noMeters is a build without C.
type noMeters struct{}

func (noMeters) Pages() (map[string]any, error)         { return nil, errNoFrameworks }
func (noMeters) Ticks() (map[string]any, error)         { return nil, errNoFrameworks }
func (noMeters) PowerSource() (map[string]any, error)   { return nil, errNoFrameworks }
func (noMeters) ThermalPressure() (uint64, error)       { return 0, errNoFrameworks }
func (noMeters) LowPower() (uint64, error)              { return 0, errNoFrameworks }
func (noMeters) PowerSettings() (map[string]any, error) { return nil, errNoFrameworks }
func (noMeters) Temperatures() ([]any, error)           { return nil, errNoFrameworks }
func (noMeters) Energy() ([]any, error)                 { return nil, errNoFrameworks }
func (noMeters) Sensors() (map[string]any, error)       { return nil, errNoFrameworks }
func (noMeters) Rest()                                  {}

func TestConform(t *testing.T) {
	nativetest.Conform(t, func(*testing.T) native.Platform {
		m := withoutC(nativetest.NewClock(time.Unix(0, 0)))
		p, err := m.platform(nobodyHeldOff).Complete()
		if err != nil {
			t.Fatal(err)
		}
		if _, lacks := p.Processes.(native.NoProcesses); lacks {
			t.Error("the platform tells nothing of processes")
		}
		return p
	})
}

func TestInterfacesOfThisMachine(t *testing.T) {
	is := is.New(t)
	m := withoutC(nativetest.NewClock(time.Unix(0, 0)))
	n, why := m.network()
	is.Equal(why, native.Reason(""))
	is.Equal(native.CheckUnknown(n), nil)
	loopback := false
	for _, i := range n.Interfaces {
		loopback = loopback || i.Type == native.InterfaceLoopback && len(i.Addresses) > 0
	}
	is.True(loopback)

	m.interfaces = func() ([]kernelInterface, error) { return nil, errors.New("no memory") }
	n, why = m.network()
	is.True(n == nil)
	is.Equal(why.Key(), native.ReasonReadFailed.Key())
}

// TestRecordings reads what real Macs said, where the recordings are.
func TestRecordings(t *testing.T) {
	folder := os.Getenv("FULMEN_FIXTURES")
	if folder == "" {
		t.Skip("FULMEN_FIXTURES names no folder with recordings of real Macs")
	}
	files, err := filepath.Glob(filepath.Join(folder, "hardware", "sysctl_*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings of sysctl in %s: %v", folder, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			is := is.New(t)
			values := readRecording(t, file)
			machine := withoutC(nil)
			machine.kernel = values
			id := machine.identity()
			is.Equal(native.CheckUnknown(id), nil)
			is.True(strings.HasPrefix(id.Chip, "Apple M"))
			m := machine.memory()
			is.Equal(native.CheckUnknown(m), nil)
			is.True(m.TotalBytes != nil && *m.TotalBytes >= 8<<30)
		})
	}
}

// readRecording reads lines "name: value" as sysctl prints them; whole numbers
// become the kernel's bytes.
func readRecording(t *testing.T, file string) recorded {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	values := recorded{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		name, value, found := strings.Cut(lines.Text(), ": ")
		if !found {
			continue
		}
		if n, err := strconv.ParseUint(value, 10, 64); err == nil {
			values[name] = eight(n)
		} else {
			values[name] = []byte(value)
		}
	}
	return values
}

// FuzzValues: whatever bytes the kernel gives, every gap is explained.
func FuzzValues(f *testing.F) {
	f.Add("hw.physicalcpu", []byte{1, 0, 0, 0})
	f.Add("vm.swapusage", []byte("x"))
	f.Fuzz(func(t *testing.T, name string, raw []byte) {
		values := studio()
		values[name] = raw
		m := withoutC(nil)
		m.kernel = values
		if problems := append(native.CheckUnknown(m.identity()), native.CheckUnknown(m.memory())...); len(problems) > 0 {
			t.Fatal(problems)
		}
	})
}
