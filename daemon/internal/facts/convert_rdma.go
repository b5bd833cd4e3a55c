package facts

import (
	"slices"

	"fulmen/daemon/api"
	"fulmen/native"
)

// rdma makes the value of one receptacle's document from what the machine says
// of RDMA, which is nil where it says nothing, for the given reason.
func rdma(port native.Port, from *native.RDMA, silent api.Reason) (api.RDMA, map[string]api.Reason) {
	to := api.RDMA{Receptacle: api.Receptacle(port.Receptacle)}
	if from == nil {
		why := map[string]api.Reason{}
		for _, field := range []string{"hardware_capable", "os_capable", "switched_on", "device"} {
			why[field] = silent
		}
		return to, why
	}
	to.OSCapable = from.OSCapable
	why := reasons(from.Unknown, to)
	hardware(&to, port, from, why)
	switch from.Switch {
	case native.RDMAOn, native.RDMAOnAfterRestart:
		to.SwitchedOn = new(true)
	case native.RDMAOff:
		to.SwitchedOn = new(false)
	default:
		why["switched_on"] = reasonOr(from.Unknown, "switch")
	}
	at := slices.IndexFunc(from.Devices, func(d native.RDMADevice) bool { return belongs(d, port) })
	switch {
	case at >= 0:
		to.Device = deviceOf(from.Devices[at], why)
	case from.Devices == nil:
		why["device"] = reasonOr(from.Unknown, "devices")
	case port.Interface == "" && len(from.Devices) > 0:
		why["device"] = reasonOr(port.Unknown, "interface") // which of them is the port's, nobody says
	case to.HardwareCapable != nil && !*to.HardwareCapable:
	case from.Switch == native.RDMAOnAfterRestart:
		why["device"] = api.ReasonRDMANoDevice // the restart that is missing makes it
	case from.Switch == native.RDMAOn:
		why["device"] = api.ReasonSourceGone // other devices are there: a restart would not make this one
	}
	return to, why
}

// hardware decides for one port: the machine may have ports that can and others
// that cannot. Thunderbolt 5 alone can.
func hardware(to *api.RDMA, port native.Port, from *native.RDMA, why map[string]api.Reason) {
	const field = "hardware_capable"
	delete(why, field)
	no := from.HardwareCapable != nil && !*from.HardwareCapable
	switch {
	case no, port.Capability != "" && port.Capability != native.TB5:
		to.HardwareCapable = new(false)
	case port.Capability == "":
		why[field] = reasonOr(port.Unknown, "capability")
	case from.HardwareCapable == nil:
		why[field] = reasonOr(from.Unknown, field)
	default:
		to.HardwareCapable = new(true)
	}
}

// deviceOf makes the device.
func deviceOf(from native.RDMADevice, why map[string]api.Reason) *api.RDMADevice {
	to := &api.RDMADevice{
		Name: from.Name, Interface: from.Interface, PortState: api.RDMAPortState(from.PortState),
		SpeedBitsPerS: from.SpeedBitsPerS, MTUBytes: from.MTUBytes,
	}
	if from.Limits != nil {
		to.Limits = new(api.RDMALimits(*from.Limits))
	}
	addReasons(why, "device.", from.Unknown, *to)
	if from.GIDs != nil {
		to.GIDs = []api.GID{}
	}
	for _, gid := range from.GIDs {
		to.GIDs = append(to.GIDs, api.GID(gid))
	}
	return to
}

// belongs reports whether a device is a port's: they share the network interface.
func belongs(device native.RDMADevice, port native.Port) bool {
	return device.Interface != "" && device.Interface == port.Interface
}

// homeless are the devices that belong to no port: of network cards, or of ports
// that tell no interface. No document has room for them.
func homeless(devices *native.RDMA, ports *native.Thunderbolt) []string {
	names := []string{}
	if devices == nil {
		return names
	}
	for _, device := range devices.Devices {
		if ports == nil || !slices.ContainsFunc(ports.Ports, func(p native.Port) bool { return belongs(device, p) }) {
			names = append(names, device.Name)
		}
	}
	slices.Sort(names)
	return names
}
