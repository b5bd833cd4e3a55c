package darwin

import (
	"cmp"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"fulmen/native"
)

// verbs are the RDMA devices as Apple's library lists them. Reading them opens
// no protection domain and no queue pair: Apple's driver leaks them.
type verbs interface {
	// Devices are maps of name, state, mtu, width, speed and gids; of one that
	// could not be asked, name and error.
	Devices() ([]any, error)
	// Last is what the library told when it was last asked, so that nobody asks it by the
	// clock.
	Last() ([]any, error)
}

// rdma tells the switch and the devices: those of the registry and those that the
// library lists, for each of the two has been seen without the other's.
func (m *machine) rdma(ask func() ([]any, error)) (*native.RDMA, native.Reason) {
	all, err := m.frameworks.Thunderbolt()
	if err != nil {
		return nil, whyNot(err)
	}
	t := newTree(all)
	r := &native.RDMA{Devices: []native.RDMADevice{}}
	setHardware(thunderbolt(t, nil).Ports, r)
	has, why := hasDriver(m.kernel)
	native.Put(&r.OSCapable, &r.Unknown, "os_capable", &has, why)
	listed, listErr := listed(ask)
	for _, controller := range t.roots(kindController) {
		for _, device := range t.under(controller, []string{kindRDMA}, nil) {
			r.Devices = append(r.Devices, deviceOf(t, device, listed, listErr))
		}
	}
	for name := range listed {
		if !slices.ContainsFunc(r.Devices, func(d native.RDMADevice) bool { return d.Name == name }) {
			r.Devices = append(r.Devices, deviceOf(t, &entry{name: name}, listed, nil))
		}
	}
	slices.SortFunc(r.Devices, func(a, b native.RDMADevice) int { return cmp.Compare(a.Name, b.Name) })
	m.setSwitch(r, listErr)
	return r, ""
}

// setHardware says whether one of the ports can do RDMA. That none can is known only
// where each says what it can.
func setHardware(ports []native.Port, r *native.RDMA) {
	able := slices.ContainsFunc(ports, func(p native.Port) bool { return p.Capability == native.TB5 })
	if i := slices.IndexFunc(ports, func(p native.Port) bool { return p.Capability == "" }); i >= 0 && !able {
		r.Unknown.Add("hardware_capable", ports[i].Unknown["capability"])
		return
	}
	r.HardwareCapable = &able
}

// setSwitch reads the firmware's variable. Devices are there only after a start
// with it set, and until the next start without. That there are none, and that a
// restart is what is missing, takes both sources of devices.
func (m *machine) setSwitch(r *native.RDMA, listErr error) {
	options, err := m.frameworks.At("IODeviceTree:/options", "rdma-enable")
	able := func(b *bool) bool { return b == nil || *b }
	switch {
	case slices.ContainsFunc(r.Devices, func(d native.RDMADevice) bool { return d.Interface != "" }):
		r.Switch = native.RDMAOn
	case err != nil:
		r.Unknown.Add("switch", whyNot(err))
	case len(options) == 0 || !isSet(options[0].properties["rdma-enable"]):
		r.Switch = native.RDMAOff
	case !able(r.HardwareCapable) || !able(r.OSCapable):
		r.Switch = native.RDMAOn // and nothing here that could use it
	case listErr != nil:
		r.Devices = nil
		r.Unknown.Add("devices", whyNot(listErr))
		r.Unknown.Add("switch", whyNot(listErr))
	case r.HardwareCapable == nil:
		r.Unknown.Add("switch", r.Unknown["hardware_capable"])
	case r.OSCapable == nil:
		r.Unknown.Add("switch", r.Unknown["os_capable"])
	default:
		r.Switch = native.RDMAOnAfterRestart
	}
}

// isSet reads the variable, which is the digit 1 as data.
func isSet(value any) bool { return strings.TrimSpace(dataText(value)) == "1" }

// listed gives the devices of the library by name.
func listed(ask func() ([]any, error)) (map[string]map[string]any, error) {
	list, err := ask()
	if err != nil {
		return nil, err
	}
	out := map[string]map[string]any{}
	for _, element := range list {
		if name := listText(element, "name"); name != "" {
			out[name] = listMap(element)
		}
	}
	return out, nil
}

// deviceOf tells a device of the registry, or one that the library alone lists, of
// which the entry has only the name.
func deviceOf(t tree, device *entry, listed map[string]map[string]any, listErr error) native.RDMADevice {
	d := native.RDMADevice{Name: device.name}
	if device.id != 0 {
		d.Holder = holderOf(t, device)
	}
	if name, ok := interfaceOfDevice(t, device); ok {
		d.Interface = name
		// An entry of another name than the library's is the interface's device.
		if own := devicePrefix + name; listed[d.Name] == nil && (listed[own] != nil || !strings.HasPrefix(d.Name, devicePrefix)) {
			d.Name = own
		}
	} else {
		d.Unknown.Add("interface", native.ReasonSourceGone.With("neither the registry nor the device's name gives its interface"))
	}
	of, there := listed[d.Name]
	why := native.ReasonSourcesDisagree.With("the registry has the device, but librdma does not list it")
	switch {
	case listErr != nil:
		why = whyNot(listErr)
	case there && listText(of, "error") != "":
		why, there = native.ReasonReadFailed.With(listText(of, "error")), false
	}
	if !there {
		setPowerState(device, &d, why)
		for _, field := range []string{"gids", "limits", "mtu_bytes", "speed_bits_per_s"} {
			d.Unknown.Add(field, why)
		}
		return d
	}
	setPort(of, &d)
	d.GIDs, d.Limits = gidsOf(of), limitsOf(of)
	return d
}

// limitsOf is nil where one of them is missing or makes no sense.
func limitsOf(of map[string]any) *native.RDMALimits {
	var l native.RDMALimits
	for key, into := range map[string]*int{
		"max_qp": &l.QueuePairs, "max_cq": &l.CompletionQueues, "max_mr": &l.MemoryRegions, "max_pd": &l.ProtectionDomains,
	} {
		n, ok := of[key].(int64)
		if !ok || n < 1 || n > math.MaxInt32 {
			return nil
		}
		*into = int(n)
	}
	return &l
}

// devicePrefix begins the names of Thunderbolt's RDMA devices; that of the interface
// follows.
const devicePrefix = "rdma_"

// interfaceOfDevice is the interface that a device hangs from, else that of its name:
// rdma_en5 is en5's.
func interfaceOfDevice(t tree, device *entry) (string, bool) {
	for _, above := range t.above(device) {
		if name, reported := above.text("BSD Name"); reported {
			return name, true
		}
	}
	name, prefixed := strings.CutPrefix(device.name, devicePrefix)
	return name, prefixed && name != ""
}

// portStates are the states of the verbs, whose numbers are fixed.
var portStates = map[int64]native.RDMAPortState{
	1: native.RDMAPortDown, 2: native.RDMAPortInit, 3: native.RDMAPortArmed, 4: native.RDMAPortActive,
}

// lanes are the numbers of lanes by their code, lane rates the bits per second.
var (
	portLanes = map[int64]int64{1: 1, 2: 4, 4: 8, 8: 12, 16: 2}
	laneRates = map[int64]int64{1: 2_500_000_000, 2: 5_000_000_000, 4: 10_000_000_000, 8: 10_312_500_000, 16: 14_062_500_000, 32: 25_781_250_000, 64: 50_000_000_000, 128: 100_000_000_000}
)

func setPort(of map[string]any, d *native.RDMADevice) {
	number := func(key string) int64 { n, _ := of[key].(int64); return n }
	if d.PortState = portStates[number("state")]; d.PortState == "" {
		d.Unknown.Add("port_state", native.ReasonSourceMalformed.With("unknown port state "+strconv.FormatInt(number("state"), 10)))
	}
	if mtu := number("mtu"); mtu >= 1 && mtu <= 5 {
		d.MTUBytes = new(int64(128) << mtu) // 1 is 256 bytes, 5 is 4096
	} else {
		d.Unknown.Add("mtu_bytes", native.ReasonSourceMalformed.With("unknown MTU code "+strconv.FormatInt(mtu, 10)))
	}
	speed := portLanes[number("width")] * laneRates[number("speed")]
	switch {
	case d.PortState != native.RDMAPortActive:
		d.Unknown.Add("speed_bits_per_s", native.ReasonNotConnected)
	case speed == 0:
		d.Unknown.Add("speed_bits_per_s", native.ReasonSourceMalformed.With("unknown width or speed"))
	default:
		d.SpeedBitsPerS = new(speed)
	}
}

// setPowerState stands in for the library: two projects found that a device's
// power state is 2 while its port is active, and 0 while it is down.
func setPowerState(device *entry, d *native.RDMADevice, why native.Reason) {
	state, ok := listMap(device.properties["IOPowerManagement"])["CurrentPowerState"].(int64)
	switch {
	case ok && state == 2:
		d.PortState = native.RDMAPortActive
	case ok && state == 0:
		d.PortState = native.RDMAPortDown
	default:
		d.Unknown.Add("port_state", why)
	}
}

func gidsOf(of map[string]any) []native.GID {
	table, _ := of["gids"].([]any)
	gids := []native.GID{}
	for index, element := range table {
		raw, _ := element.([]byte)
		address, ok := netip.AddrFromSlice(raw)
		if ok && len(raw) == 16 && !address.IsUnspecified() {
			gids = append(gids, native.GID{Index: index, Address: address})
		}
	}
	return gids
}

// holderOf names the process that has the device open ("pid 412, python3").
func holderOf(t tree, device *entry) string {
	for _, client := range t.children(device, kindRDMAClient) {
		if creator, ok := client.text("IOUserClientCreator"); ok {
			return creator
		}
	}
	return ""
}
