package darwin

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/netip"

	"fulmen/native"
)

// Recording is what this package reads of a Mac, kept to be read again elsewhere:
// the entries of the registry, the configuration, the RDMA devices. What could not
// be read is in Errors, by its name.
type Recording struct {
	// Format is "fulmen.darwin/1".
	Format string           `json:"format"`
	At     native.Timestamp `json:"at"`
	// Sysctl are values that are texts; Thunderbolt, Ports and Places entries of
	// the registry as [id, parent, kind, class, name, location, properties].
	Sysctl      map[string]string `json:"sysctl"`
	Thunderbolt []any             `json:"thunderbolt"`
	Ports       []any             `json:"ports"`
	Places      []any             `json:"places"`
	Options     []any             `json:"options"`
	Store       map[string]any    `json:"store"`
	Stored      map[string]any    `json:"stored"`
	Interfaces  []any             `json:"interfaces"`
	// Kernel are the interfaces as the kernel has them; absent in older recordings.
	Kernel  []any             `json:"kernel,omitzero"`
	Devices []any             `json:"devices"`
	Errors  map[string]string `json:"errors,omitzero"`
}

// recordingFormat is the only one so far.
const recordingFormat = "fulmen.darwin/1"

// recordedNames are the values of sysctl that a recording has.
func recordedNames() []string {
	return []string{"hw.model", "machdep.cpu.brand_string", "kern.osproductversion", "kern.osversion"}
}

// record reads everything once and masks what names a person or a machine, which it
// lists.
func (m *machine) record() (Recording, []Replaced) {
	r := Recording{Format: recordingFormat, At: native.Stamp(m.now()), Sysctl: map[string]string{}, Errors: map[string]string{}}
	note := func(name string, err error) {
		if err != nil {
			r.Errors[name] = err.Error()
		}
	}
	for _, name := range recordedNames() {
		value, err := m.kernel.Text(name)
		note("sysctl "+name, err)
		r.Sysctl[name] = value
	}
	for _, part := range []struct {
		name string
		into *[]any
		read func() ([]entry, error)
	}{
		{"thunderbolt", &r.Thunderbolt, m.frameworks.Thunderbolt},
		{"ports", &r.Ports, m.frameworks.NetworkPorts},
		{"places", &r.Places, m.frameworks.Places},
		{"options", &r.Options, func() ([]entry, error) { return m.frameworks.At("IODeviceTree:/options", "rdma-enable") }},
	} {
		found, err := part.read()
		note(part.name, err)
		*part.into = plain(found)
	}
	var err error
	r.Store, err = m.frameworks.Store()
	note("store", err)
	r.Stored, err = m.frameworks.Stored()
	note("stored", err)
	r.Interfaces, err = m.frameworks.Interfaces()
	note("interfaces", err)
	r.Devices, err = m.verbs.Devices()
	note("devices", err)
	kernel, err := m.interfaces()
	note("kernel", err)
	r.Kernel = plainInterfaces(kernel)
	k := newMask()
	r.each(func(v any) any { return k.value("", v) })
	return r, k.replaced
}

// each puts something else in the place of each part that is a list or a map.
func (r *Recording) each(other func(any) any) {
	for _, list := range []*[]any{&r.Thunderbolt, &r.Ports, &r.Places, &r.Options, &r.Interfaces, &r.Devices} {
		*list, _ = other(*list).([]any)
	}
	for _, values := range []*map[string]any{&r.Store, &r.Stored} {
		*values, _ = other(*values).(map[string]any)
	}
	r.Kernel, _ = other(r.Kernel).([]any)
}

// plain are entries as lists, as C writes them.
func plain(all []entry) []any {
	out := []any{}
	for _, e := range all {
		out = append(out, []any{int64(e.id), int64(e.parent), e.kind, e.class, e.name, e.location, e.properties})
	}
	return out
}

// plainInterfaces are the kernel's interfaces as maps.
func plainInterfaces(all []kernelInterface) []any {
	out := []any{}
	for _, i := range all {
		addresses := []any{}
		for _, p := range i.Addresses {
			addresses = append(addresses, map[string]any{"address": p.Addr().WithZone("").String(), "bits": int64(p.Bits())})
		}
		out = append(out, map[string]any{
			"name": i.Name, "index": int64(i.Index), "hardware": i.Hardware, "mtu": i.MTUBytes, "up": i.Up, "running": i.Running,
			"loopback": i.Loopback, "point_to_point": i.PointToPoint, "addresses": addresses,
		})
	}
	return out
}

// interfacesOf reads what plainInterfaces writes; what is none is left out.
func interfacesOf(all []any) []kernelInterface {
	var out []kernelInterface
	for _, element := range all {
		of := listMap(element)
		number := func(key string) int64 { n, _ := of[key].(int64); return n }
		i := kernelInterface{
			Name: listText(of["name"]), Index: int(number("index")), Hardware: listText(of["hardware"]), MTUBytes: number("mtu"),
			Up: listTrue(of["up"]), Running: listTrue(of["running"]), Loopback: listTrue(of["loopback"]), PointToPoint: listTrue(of["point_to_point"]),
		}
		addresses, _ := of["addresses"].([]any)
		for _, one := range addresses {
			bits, _ := listMap(one)["bits"].(int64)
			a, err := netip.ParseAddr(listText(one, "address"))
			if p := netip.PrefixFrom(a, int(bits)); err == nil && p.IsValid() {
				i.Addresses = append(i.Addresses, p)
			}
		}
		if i.Name != "" {
			out = append(out, i)
		}
	}
	return out
}

// dataKey marks data among JSON's texts.
const dataKey = "$data"

// MarshalJSON writes data as {"$data": HEX}.
func (r Recording) MarshalJSON() ([]byte, error) {
	type bare Recording
	r.each(withHex)
	return json.Marshal(bare(r))
}

func withHex(v any) any {
	switch v := v.(type) {
	case []byte:
		return map[string]any{dataKey: hex.EncodeToString(v)}
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = withHex(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key := range v {
			out[key] = withHex(v[key])
		}
		return out
	}
	return v
}

// ParseRecording reads a recording.
func ParseRecording(text []byte) (Recording, error) {
	var r Recording
	if err := json.Unmarshal(text, &r); err != nil {
		return Recording{}, err
	}
	if r.Format != recordingFormat {
		return Recording{}, fmt.Errorf("the recording has the format %.40q, and this version reads %s: record it again with fulmen debug record", r.Format, recordingFormat)
	}
	r.each(fromJSON)
	return r, nil
}

// fromJSON makes of JSON's values those that C gives.
func fromJSON(v any) any {
	switch v := v.(type) {
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	case []any:
		for i := range v {
			v[i] = fromJSON(v[i])
		}
	case map[string]any:
		if text, ok := v[dataKey].(string); ok && len(v) == 1 {
			b, _ := hex.DecodeString(text)
			return b
		}
		for key := range v {
			v[key] = fromJSON(v[key])
		}
	}
	return v
}
