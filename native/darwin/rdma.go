package darwin

import (
	"cmp"
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
}

// noVerbs is a build without C.
type noVerbs struct{}

func (noVerbs) Devices() ([]any, error) { return nil, errNoFrameworks }

// rdma tells the switch and the devices.
func (m *machine) rdma() (*native.RDMA, native.Reason) {
	all, err := m.frameworks.Thunderbolt()
	if err != nil {
		return nil, whyNot(err)
	}
	t := newTree(all)
	r := &native.RDMA{Devices: []native.RDMADevice{}}
	r.HardwareCapable = new(slices.ContainsFunc(thunderbolt(t, nil).Ports, func(p native.Port) bool { return p.Capability == native.TB5 }))
	if version, err := m.kernel.Text("kern.osproductversion"); err != nil {
		r.Unknown.Add("os_capable", reason("kern.osproductversion", err))
	} else {
		r.OSCapable = new(hasDriver(version))
	}
	listed, listErr := m.listed()
	for _, controller := range t.roots(kindController) {
		for _, i := range t.under(controller, []string{kindInterface}, []string{kindInterface, kindSwitch}) {
			for _, device := range t.children(i, kindRDMA) {
				r.Devices = append(r.Devices, deviceOf(t, i, device, listed, listErr))
			}
		}
	}
	slices.SortFunc(r.Devices, func(a, b native.RDMADevice) int { return cmp.Compare(a.Name, b.Name) })
	m.setSwitch(r)
	return r, ""
}

// hasDriver reports whether that version of macOS has RDMA over Thunderbolt,
// which came with 26.2.
func hasDriver(version string) bool {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	a, err := strconv.Atoi(major)
	b, _ := strconv.Atoi(minor)
	return err == nil && (a > 26 || a == 26 && b >= 2)
}

// setSwitch reads the firmware's variable. Devices are there only after a start
// with it set, and until the next start without.
func (m *machine) setSwitch(r *native.RDMA) {
	options, err := m.frameworks.At("IODeviceTree:/options", "rdma-enable")
	switch {
	case len(r.Devices) > 0:
		r.Switch = native.RDMAOn
	case err != nil:
		r.Unknown.Add("switch", whyNot(err))
	case len(options) == 0 || !isSet(options[0].properties["rdma-enable"]):
		r.Switch = native.RDMAOff
	case r.HardwareCapable != nil && *r.HardwareCapable && r.OSCapable != nil && *r.OSCapable:
		r.Switch = native.RDMAOnAfterRestart
	default:
		r.Switch = native.RDMAOn // and nothing here that could use it
	}
}

// isSet reads the variable, which is the digit 1 as data.
func isSet(value any) bool { return strings.TrimSpace(dataText(value)) == "1" }

// listed gives the devices of the library by name.
func (m *machine) listed() (map[string]map[string]any, error) {
	list, err := m.verbs.Devices()
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

func deviceOf(t tree, iface, device *entry, listed map[string]map[string]any, listErr error) native.RDMADevice {
	d := native.RDMADevice{Name: device.name, Holder: holderOf(t, device)}
	setText(iface, "BSD Name", &d.Interface, &d.Unknown, "interface")
	of, there := listed[device.name]
	why := native.ReasonSourceGone.With("the library does not list it")
	switch {
	case listErr != nil:
		why = whyNot(listErr)
	case there && listText(of, "error") != "":
		why, there = native.ReasonReadFailed.With(listText(of, "error")), false
	}
	if !there {
		setPowerState(device, &d, why)
		for _, field := range []string{"gids", "mtu_bytes", "speed_bits_per_s"} {
			d.Unknown.Add(field, why)
		}
		return d
	}
	setPort(of, &d)
	d.GIDs = gidsOf(of)
	return d
}

// portStates are those of the verbs, whose numbers are fixed.
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
		d.Unknown.Add("port_state", native.ReasonSourceMalformed.With("state "+strconv.FormatInt(number("state"), 10)))
	}
	if mtu := number("mtu"); mtu >= 1 && mtu <= 5 {
		d.MTUBytes = new(int64(128) << mtu) // 1 is 256 bytes, 5 is 4096
	} else {
		d.Unknown.Add("mtu_bytes", native.ReasonSourceMalformed.With("mtu "+strconv.FormatInt(mtu, 10)))
	}
	speed := portLanes[number("width")] * laneRates[number("speed")]
	switch {
	case d.PortState != native.RDMAPortActive:
		d.Unknown.Add("speed_bits_per_s", native.ReasonNotConnected)
	case speed == 0:
		d.Unknown.Add("speed_bits_per_s", native.ReasonSourceMalformed.With("width or speed"))
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
