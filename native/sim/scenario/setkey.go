package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fulmen/native"
)

// setKey is one key of the verb set.
type setKey struct {
	name string
	// prefix says what stands before the name: nothing, an interface, an area.
	prefix string
	// ofMac and ofNetwork say who has it.
	ofMac, ofNetwork bool
	// values are the allowed ones; nil: set says which are not.
	values []string
	// set has a Mac as the value says, or says why no Mac can be so; nil for what is
	// no Mac's own.
	set func(m *Mac, value string) error
}

const (
	prefixInterface = "INTERFACE"
	prefixArea      = "AREA"
)

func setKeys() []setKey {
	yesNo := []string{"yes", "no"}
	upDown := []string{"up", "down"}
	return []setKey{
		word("rdma", func(m *Mac) *native.RDMASwitch { return &m.RDMA }, rdmaSwitches()...),
		{name: "memory.used", ofMac: true, set: (*Mac).setUsed},
		word("memory.pressure", func(m *Mac) *native.Pressure { return &m.Pressure }, pressures()...),
		word("thermal", func(m *Mac) *native.ThermalState { return &m.ThermalState }, thermalStates()...),
		word("power", func(m *Mac) *native.PowerSource { return &m.PowerSource }, powerSources()...),
		load(keyBattery, func(m *Mac) **float64 { return &m.BatteryRatio }),
		load(keyGPUUse, func(m *Mac) **float64 { return &m.GPUUseRatio }),
		load(keyWatts, func(m *Mac) **float64 { return &m.SystemPowerWatts }),
		load(keyCelsius, func(m *Mac) **float64 { return &m.GPUTemperatureCelsius }),
		{name: "low_power", ofMac: true, values: yesNo, set: func(m *Mac, v string) error { m.LowPowerMode = v == "yes"; return nil }},
		{name: "lid", ofMac: true, values: []string{"open", "closed"}, set: func(m *Mac, v string) error { m.LidClosed = v == "closed"; return nil }},
		{name: "name", ofMac: true, set: func(m *Mac, v string) error { m.Identity.Name = v; return nil }},
		{name: "os", ofMac: true, set: (*Mac).setOS},
		{name: "configuration", ofMac: true, values: []string{"free", "locked", "refused"}},
		{name: "link", prefix: prefixInterface, ofMac: true, values: upDown},
		{name: "address", prefix: prefixInterface, ofMac: true, set: func(_ *Mac, v string) error { return checkAddressOrNone(v) }},
		{name: "bridge", prefix: prefixInterface, ofMac: true, set: func(_ *Mac, v string) error { return checkInterfaceName(v) }},
		{name: "service", prefix: prefixInterface, ofMac: true, set: func(_ *Mac, v string) error { return checkServiceName(v) }},
		{name: "present", prefix: prefixInterface, ofMac: true, values: yesNo},
		{name: "told", prefix: prefixArea, ofMac: true, values: yesNo},
		{name: "link", ofNetwork: true, values: upDown},
		{name: "isolated", ofNetwork: true, values: yesNo},
	}
}

// word is a key with a few values, in a field of the Mac.
func word[T ~string](name string, field func(*Mac) *T, values ...T) setKey {
	return setKey{name: name, ofMac: true, values: names(values...), set: func(m *Mac, v string) error { *field(m) = T(v); return nil }}
}

// load is a key with a number, in a field of the Mac.
func load(name string, field func(*Mac) **float64) setKey {
	return setKey{name: name, ofMac: true, set: func(m *Mac, text string) error {
		value, err := strconv.ParseFloat(text, 64)
		if err != nil || strings.Trim(text, "0123456789.") != "" || value > mostOf(name) {
			return fmt.Errorf("%.40q is not a number from 0 to %g", text, mostOf(name))
		}
		*field(m) = &value
		return nil
	}}
}

func (m *Mac) setUsed(text string) error {
	used, err := ParseSize(text)
	if err == nil && m.MemoryBytes > 0 && used > m.MemoryBytes {
		err = fmt.Errorf("%s is more than the memory of %s", text, m.Name)
	}
	if err == nil {
		m.UsedBytes = used
	}
	return err
}

func (m *Mac) setOS(text string) (err error) {
	if m.Identity.OSVersion, m.Identity.OSBuild, err = ParseOS(text); err == nil {
		m.OSCapable = hasRDMADriver(m.Identity.OSVersion)
	}
	return err
}

// Set changes what a key that [Scenario.Has] knows is of the Mac; other keys are of what
// stands before their name, or of the world.
func (m *Mac) Set(key, value string) error {
	if k, _, _ := findKey(key); k.set != nil {
		return k.set(m, value)
	}
	return nil
}

func (k setKey) String() string {
	if k.prefix != "" {
		return k.prefix + "." + k.name
	}
	return k.name
}

// match returns what stands before the key's name, and whether key is this one.
func (k setKey) match(key string) (prefix string, ok bool) {
	if k.prefix == "" {
		return "", key == k.name
	}
	prefix, ok = strings.CutSuffix(key, "."+k.name)
	if !ok || prefix == "" {
		return "", false
	}
	if k.prefix == prefixArea {
		return prefix, slices.Contains(native.AllAreas(), native.Area(prefix))
	}
	return prefix, checkInterfaceName(prefix) == nil
}

// findKey returns the key with what stands before its name.
func findKey(key string) (found setKey, prefix string, ok bool) {
	for _, k := range setKeys() {
		if prefix, ok := k.match(key); ok {
			return k, prefix, true
		}
	}
	return setKey{}, "", false
}

func keyNames() string {
	var keys []string
	for _, k := range setKeys() {
		keys = append(keys, k.String())
	}
	return strings.Join(keys, ", ")
}

func checkValue(key, value string) error {
	k, _, ok := findKey(key)
	if !ok {
		var plain []string
		for _, k := range setKeys() {
			plain = append(plain, k.name)
		}
		return fmt.Errorf("unknown key %.60q%s; it is one of %s", key, didYouMean(key, plain), keyNames())
	}
	if k.values != nil && !slices.Contains(k.values, value) {
		return fmt.Errorf("value %.60q of %s is not one of %s", value, key, strings.Join(k.values, ", "))
	}
	if err := new(Mac).Set(key, value); err != nil {
		return fmt.Errorf("value of %s: %w", key, err)
	}
	return nil
}

func checkServiceName(value string) error {
	if value == "" || len(value) > 60 {
		return fmt.Errorf("%.70q is not a name of a network service (1 to 60 characters)", value)
	}
	return nil
}

func checkAddressOrNone(value string) error {
	if value == "none" {
		return nil
	}
	_, err := ParseAddress(value)
	return err
}

// checkInterfaceName refuses what no kernel accepts; 15 characters is its limit.
func checkInterfaceName(name string) error {
	if name == "" || len(name) > 15 || strings.ContainsAny(name, " \t/:\"") {
		return fmt.Errorf("%.40q is not an interface's name such as en5 (1 to 15 characters, no spaces)", name)
	}
	for _, r := range name {
		if r < '!' || r > '~' {
			return fmt.Errorf("%.40q is not an interface's name such as en5 (ASCII only)", name)
		}
	}
	return nil
}

// ParseOS reads a system's version and build as "VERSION/BUILD", such as
// "26.2/25C56"; the build may be left out with its slash.
func ParseOS(text string) (version, build string, err error) {
	version, build, slash := strings.Cut(text, "/")
	bad := version == "" || strings.Trim(version, "0123456789.") != "" || version[0] == '.' || slash && build == ""
	for _, r := range build {
		bad = bad || (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	if bad {
		return "", "", fmt.Errorf("system %.40q: write it as VERSION/BUILD, such as 26.2/25C56", text)
	}
	return version, build, nil
}

func rdmaSwitches() []native.RDMASwitch {
	return []native.RDMASwitch{native.RDMAOff, native.RDMAOn, native.RDMAOnAfterRestart}
}

func pressures() []native.Pressure {
	return []native.Pressure{native.PressureNormal, native.PressureWarning, native.PressureCritical}
}

func thermalStates() []native.ThermalState {
	return []native.ThermalState{native.ThermalNominal, native.ThermalFair, native.ThermalSerious, native.ThermalCritical}
}

func powerSources() []native.PowerSource {
	return []native.PowerSource{native.PowerAC, native.PowerBattery, native.PowerUPS}
}

func names[T ~string](values ...T) []string {
	var all []string
	for _, v := range values {
		all = append(all, string(v))
	}
	return all
}
