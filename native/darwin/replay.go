package darwin

import (
	"fmt"

	"fulmen/native"
)

// replayed is a recording in the place of the frameworks.
type replayed struct{ r Recording }

// Identity is what a recording tells of the Mac: its model, chip and system.
func (r Recording) Identity() native.Identity {
	full := identity(recordedSysctl(r.Sysctl), func() (string, error) { return "", errNoValue })
	return native.Identity{OSName: full.OSName, Model: full.Model, Chip: full.Chip, OSVersion: full.OSVersion, OSBuild: full.OSBuild}
}

// Known are the interfaces that SystemConfiguration knew, by name, without those of
// receptacles and bridges.
func (r Recording) Known() map[string]native.InterfaceType {
	types := typesOf(networkSources{known: r.Interfaces})
	out := map[string]native.InterfaceType{}
	for name, of := range types {
		switch of.kind {
		case "IEEE80211":
			out[name] = native.InterfaceWiFi
		case "Ethernet":
			out[name] = native.InterfaceEthernet
		}
	}
	ports, _ := again("ports", r.Ports)
	for name := range portNumbersOf(newTree(ports)) {
		delete(out, name)
	}
	return out
}

// Facts are what this package tells of the Mac that was recorded: Thunderbolt, RDMA and
// the network.
func (r Recording) Facts() native.Snapshot {
	m := newMachine(&machine{kernel: recordedSysctl(r.Sysctl), frameworks: replayed{r}, verbs: replayed{r}}, nil)
	m.interfaces = func() ([]kernelInterface, error) { return interfacesOf(r.Kernel), nil }
	s := native.Snapshot{At: r.At, Platform: platformName}
	for _, area := range []native.Area{native.AreaThunderbolt, native.AreaRDMA, native.AreaNetwork} {
		if why := m.read(&s, area); why != "" {
			s.Unknown.Add(string(area), why)
		}
	}
	return s
}

type recordedSysctl map[string]string

// Text implements sysctl.
func (r recordedSysctl) Text(name string) (string, error) {
	value, there := r[name]
	if !there {
		return "", errNoValue
	}
	return value, nil
}

// Raw implements sysctl.
func (r recordedSysctl) Raw(name string) ([]byte, error) {
	value, err := r.Text(name)
	return []byte(value), err
}

// again gives a part of the recording; one that is not there is gone.
func again(call string, list []any) ([]entry, error) {
	if list == nil {
		return nil, &frameworkError{call, resultGone}
	}
	out := make([]entry, 0, len(list))
	for _, element := range list {
		fields, _ := element.([]any)
		if len(fields) != entryFields {
			return nil, fmt.Errorf("%w: a registry entry with %d fields", errBuffer, len(fields))
		}
		e := readEntry(func() any { first := fields[0]; fields = fields[1:]; return first })
		if e == nil {
			return nil, fmt.Errorf("%w: the fields of a registry entry", errBuffer)
		}
		out = append(out, *e)
	}
	return ordered(out)
}

func (p replayed) Thunderbolt() ([]entry, error)  { return again("thunderbolt", p.r.Thunderbolt) }
func (p replayed) NetworkPorts() ([]entry, error) { return again("ports", p.r.Ports) }
func (p replayed) Places() ([]entry, error)       { return again("places", p.r.Places) }
func (p replayed) Services(class string, _ ...string) ([]entry, error) {
	return nil, &frameworkError{class, resultGone}
}
func (p replayed) At(path string, _ ...string) ([]entry, error) {
	if path != "IODeviceTree:/options" {
		return nil, &frameworkError{path, resultGone}
	}
	return again("options", p.r.Options)
}
func (p replayed) Store() (map[string]any, error)  { return p.r.Store, nil }
func (p replayed) Stored() (map[string]any, error) { return p.r.Stored, nil }
func (p replayed) Interfaces() ([]any, error)      { return p.r.Interfaces, nil }
func (p replayed) Devices() ([]any, error) {
	if p.r.Devices == nil {
		return nil, &frameworkError{"devices", resultGone}
	}
	return p.r.Devices, nil
}
func (p replayed) Last() ([]any, error) { return p.Devices() }
func (p replayed) BridgeMembers(bridge string) ([]string, error) {
	return nil, &frameworkError{bridge, resultGone}
}

var _ frameworks = replayed{}
