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
	// values are the allowed ones; check is for keys with other values.
	values []string
	check  func(value string) error
}

const (
	prefixInterface = "INTERFACE"
	prefixArea      = "AREA"
)

func setKeys() []setKey {
	yesNo := []string{"yes", "no"}
	upDown := []string{"up", "down"}
	return []setKey{
		{name: "rdma", ofMac: true, values: names(native.RDMAOff, native.RDMAOn, native.RDMAOnAfterRestart)},
		{name: "memory.used", ofMac: true, check: func(v string) error { _, err := ParseSize(v); return err }},
		{name: "memory.pressure", ofMac: true, values: names(pressures()...)},
		{name: "thermal", ofMac: true, values: names(thermalStates()...)},
		{name: "power", ofMac: true, values: names(powerSources()...)},
		{name: "battery", ofMac: true, check: func(v string) error { _, err := parseRatio(v); return err }},
		{name: keyGPUUse, ofMac: true, check: checkLoad(keyGPUUse)},
		{name: keyWatts, ofMac: true, check: checkLoad(keyWatts)},
		{name: keyCelsius, ofMac: true, check: checkLoad(keyCelsius)},
		{name: "low_power", ofMac: true, values: yesNo},
		{name: "lid", ofMac: true, values: []string{"open", "closed"}},
		{name: "name", ofMac: true, check: func(string) error { return nil }},
		{name: "os", ofMac: true, check: func(v string) error { _, _, err := ParseOS(v); return err }},
		{name: "configuration", ofMac: true, values: []string{"free", "locked", "refused"}},
		{name: "link", prefix: prefixInterface, ofMac: true, values: upDown},
		{name: "address", prefix: prefixInterface, ofMac: true, check: checkAddressOrNone},
		{name: "bridge", prefix: prefixInterface, ofMac: true, check: checkInterfaceName},
		{name: "service", prefix: prefixInterface, ofMac: true, check: checkServiceName},
		{name: "present", prefix: prefixInterface, ofMac: true, values: yesNo},
		{name: "told", prefix: prefixArea, ofMac: true, values: yesNo},
		{name: "link", ofNetwork: true, values: upDown},
		{name: "isolated", ofNetwork: true, values: yesNo},
	}
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
	if k.check != nil {
		if err := k.check(value); err != nil {
			return fmt.Errorf("value of %s: %w", key, err)
		}
		return nil
	}
	if !slices.Contains(k.values, value) {
		return fmt.Errorf("value %.60q of %s is none of %s", value, key, strings.Join(k.values, ", "))
	}
	return nil
}

func checkLoad(key string) func(string) error {
	return func(v string) error { _, err := ParseLoad(key, v); return err }
}

func checkServiceName(value string) error {
	if value == "" || len(value) > 60 {
		return fmt.Errorf("%.70q is no name of a network service (1 to 60 characters)", value)
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
		return fmt.Errorf("%.40q is no interface's name such as en5 (1 to 15 characters, no spaces)", name)
	}
	for _, r := range name {
		if r < '!' || r > '~' {
			return fmt.Errorf("%.40q is no interface's name such as en5 (ASCII only)", name)
		}
	}
	return nil
}

// parseRatio reads a number from 0 to 1 in plain decimals.
func parseRatio(text string) (float64, error) {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.Trim(text, "0123456789.") != "" || value > 1 {
		return 0, fmt.Errorf("%.40q is no number from 0 to 1", text)
	}
	return value, nil
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
