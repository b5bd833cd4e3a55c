package facts

import (
	"cmp"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"fulmen/daemon/api"
	"fulmen/native"
)

// reasons gives a document's reasons for those of the platform that concern
// fields which the document has. Details stay here, in the log: they can name
// files and devices of this machine.
func reasons(from native.Reasons, value any) map[string]api.Reason {
	to := map[string]api.Reason{}
	addReasons(to, "", from, value)
	return to
}

// addReasons adds the reasons of an inner struct, each field with a prefix.
func addReasons(to map[string]api.Reason, prefix string, from native.Reasons, value any) {
	fields := reflect.TypeOf(value)
	for i := range fields.NumField() {
		name, _, _ := strings.Cut(fields.Field(i).Tag.Get("json"), ",")
		if why, missing := from[name]; missing {
			to[prefix+name] = api.Reason(why.Key())
		}
	}
}

// reasonOr is why a field of the platform is absent; one that says nothing was
// not read.
func reasonOr(from native.Reasons, field string) api.Reason {
	if why := from[field]; why != "" {
		return api.Reason(why.Key())
	}
	return api.ReasonNotYetRead
}

// identity makes the value of the identity document.
func identity(from native.Identity, static Static) (api.Identity, map[string]api.Reason) {
	name := cmp.Or(static.FriendlyName, from.Name, from.HostName)
	to := api.Identity{
		PublicKey: static.PublicKey, FulmenVersion: static.FulmenVersion, Protocol: static.Protocol, StartedAt: static.StartedAt,
		Name: name, ShortName: static.ShortName(name), Platform: cmp.Or(static.Platform, api.Platform(runtime.GOOS)), Architecture: from.Architecture,
		Model: from.Model, ModelName: from.ModelName, Chip: from.Chip,
		OSName: from.OSName, OSVersion: from.OSVersion, OSBuild: from.OSBuild,
		CPUCores: from.CPUCores, CPUPerformanceCores: from.CPUPerformanceCores, CPUEfficiencyCores: from.CPUEfficiencyCores,
		GPUName: from.GPUName, GPUCores: from.GPUCores, GPUMemory: api.GPUMemory(from.GPUMemory),
	}
	if at := from.BootedAt; !at.IsZero() {
		to.BootedAt = api.TimeOf(at.Time)
	}
	why := reasons(from.Unknown, to)
	if static.MLX != nil {
		to.MLXVersion, to.MLXBackends, to.MLXDevices = static.MLX.Version, static.MLX.Backends, static.MLX.Devices
	} else {
		for _, field := range []string{"mlx_version", "mlx_backends", "mlx_devices"} {
			why[field] = static.noMLX()
		}
	}
	if field := "gpu_memory"; why[field] == api.ReasonNotSupportedByPlatform { // by this one, and so MLX's to tell
		switch mlx := static.MLX; {
		case mlx == nil:
			why[field] = static.noMLX()
		case mlx.UsesCPU:
			to.GPUMemory = api.GPUMemoryNone
		case mlx.usesCUDA() && from.Architecture == "amd64": // elsewhere a system on a chip may share its memory
			to.GPUMemory = api.GPUMemoryDedicated
		}
		if to.GPUMemory != "" {
			delete(why, field)
		}
	}
	return to, why
}

// memory makes the value of the memory document. A working set that the system does
// not tell is MLX's to tell: a Mac where nobody has set a limit has Metal's default.
func memory(from native.Memory, static Static) (api.Memory, map[string]api.Reason) {
	to := api.Memory{
		TotalBytes: from.TotalBytes, UsedBytes: from.UsedBytes, AvailableBytes: from.AvailableBytes,
		WiredBytes: from.WiredBytes, CompressedBytes: from.CompressedBytes,
		SwapTotalBytes: from.SwapTotalBytes, SwapUsedBytes: from.SwapUsedBytes,
		Pressure: api.Pressure(from.Pressure), PressureStallRatio: from.PressureStallRatio,
		GPUWorkingSetBytes: from.GPUWorkingSetBytes, GPUUsedBytes: from.GPUUsedBytes,
	}
	why := reasons(from.Unknown, to)
	const field = "gpu_working_set_bytes"
	if to.GPUWorkingSetBytes == nil {
		switch mlx := static.MLX; {
		case mlx == nil:
			why[field] = static.noMLX()
		case mlx.UsesCPU && from.TotalBytes != nil:
			to.GPUWorkingSetBytes = from.TotalBytes
		case mlx.WorkingSetBytes > 0:
			to.GPUWorkingSetBytes = &mlx.WorkingSetBytes
		}
	}
	if to.GPUWorkingSetBytes != nil {
		delete(why, field)
	}
	return to, why
}

// system makes the value of the system document.
func system(from native.System) (api.System, map[string]api.Reason) {
	to := api.System{
		GPUUseRatio: from.GPUUseRatio, GPULoadRatio: from.GPULoadRatio, GPUFrequencyHz: from.GPUFrequencyHz, GPUPowerWatts: from.GPUPowerWatts,
		GPUTemperatureCelsius: from.GPUTemperatureCelsius,
		CPUUseRatio:           from.CPUUseRatio, CPUPowerWatts: from.CPUPowerWatts, CPUTemperatureCelsius: from.CPUTemperatureCelsius,
		PackagePowerWatts: from.PackagePowerWatts, SystemPowerWatts: from.SystemPowerWatts,
		ThermalState: api.ThermalState(from.ThermalState), PowerSource: PowerSource(from.PowerSource),
		BatteryRatio: from.BatteryRatio, LowPowerMode: from.LowPowerMode,
	}
	for _, sensor := range from.Temperatures {
		to.Temperatures = append(to.Temperatures, api.Temperature(sensor))
	}
	why := reasons(from.Unknown, to)
	if from.Fans != nil {
		to.Fans = []api.Fan{}
	}
	for _, fan := range from.Fans {
		if fan.SpeedHz == nil { // a fan that does not turn is told; one that does not tell is not
			why["fans."+fan.Name] = api.Reason(fan.Unknown["speed_hz"].Key())
			continue
		}
		to.Fans = append(to.Fans, api.Fan{Name: fan.Name, SpeedHz: *fan.SpeedHz, MaxSpeedHz: fan.MaxSpeedHz})
	}
	return to, why
}

// PowerSource gives the document's word for the platform's; one of them differs.
func PowerSource(from native.PowerSource) api.PowerSource {
	if from == native.PowerAC {
		return api.PowerMains
	}
	return api.PowerSource(from)
}

// network makes the value of the network document. Hardware addresses stay on
// the machine. Where the network does not tell the receptacle of an interface,
// the ports may.
func network(from native.Network, ports *native.Thunderbolt) (api.Network, map[string]api.Reason) {
	to := api.Network{Interfaces: []api.Interface{}, PrimaryInterface: from.PrimaryInterface}
	why := reasons(from.Unknown, to)
	for _, i := range from.Interfaces {
		one := api.Interface{
			Name: i.Name, DisplayName: i.DisplayName, Type: api.InterfaceType(i.Type), Up: i.Up != nil && *i.Up, Link: i.Link,
			MTUBytes: i.MTUBytes, SpeedBitsPerS: i.SpeedBitsPerS, Expensive: i.Expensive,
		}
		one.PortNumber = portNumberOf(i, ports)
		for _, a := range i.Addresses {
			address := api.InterfaceAddress{Address: a.Address, Tentative: a.Tentative}
			if a.Origin != native.OriginUnknown {
				address.Origin = api.AddressOrigin(a.Origin)
			}
			one.Addresses = append(one.Addresses, address)
		}
		bridges(&one, from.Bridges)
		for _, service := range from.Services {
			if service.Interface == i.Name && (one.Service == nil || !one.Service.Active) { // of several one that is in force
				one.Service = &api.NetworkService{ID: service.ID, Name: service.Name, Active: service.Enabled}
			}
		}
		addReasons(why, "interfaces."+i.Name+".", i.Unknown, one)
		to.Interfaces = append(to.Interfaces, one)
	}
	return to, why
}

// bridges notes an interface's place in bridges, or a bridge's members.
func bridges(one *api.Interface, all []native.Bridge) {
	for _, bridge := range all {
		if bridge.Name == one.Name {
			one.Members = bridge.KernelMembers
		}
		if slices.Contains(bridge.KernelMembers, one.Name) {
			one.Bridge = bridge.Name
		}
		if slices.Contains(bridge.StoredMembers, one.Name) {
			one.BridgeConfigured = bridge.Name
		}
	}
}

// portNumberOf is the Thunderbolt receptacle behind an interface; 0 where there
// is none.
func portNumberOf(i native.Interface, ports *native.Thunderbolt) api.PortNumber {
	if i.PortNumber != nil {
		return api.PortNumber(*i.PortNumber)
	}
	if ports == nil || i.Name == "" {
		return 0
	}
	at := slices.IndexFunc(ports.Ports, func(p native.Port) bool { return p.Interface == i.Name })
	if at < 0 {
		return 0
	}
	return api.PortNumber(ports.Ports[at].PortNumber)
}

// rdma makes the value of one receptacle's document from what the machine says
// of RDMA, which is nil where it says nothing, for the given reason.
func rdma(port native.Port, from *native.RDMA, silent api.Reason) (api.RDMA, map[string]api.Reason) {
	to := api.RDMA{PortNumber: api.PortNumber(port.PortNumber)}
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

// portless are the devices that belong to no port: of network cards, or of ports
// that tell no interface. No document has room for them.
func portless(devices *native.RDMA, ports *native.Thunderbolt) []string {
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

// thunderbolt makes the value of one receptacle's document.
func thunderbolt(from native.Port) (api.Thunderbolt, map[string]api.Reason) {
	to := api.Thunderbolt{
		PortNumber: api.PortNumber(from.PortNumber), Place: from.Place, BesideEthernet: from.BesideEthernet,
		DomainUUID: from.DomainUUID, Capability: api.ThunderboltGeneration(from.Capability), Interface: from.Interface,
	}
	why := reasons(from.Unknown, to)
	switch from.Status {
	case native.PortEmpty:
		to.Connected = new(false)
	case native.PortDevice, native.PortPeer:
		to.Connected = new(true)
	default:
		why["connected"] = reasonOr(from.Unknown, "status")
	}
	if from.Status == native.PortEmpty {
		// An idle port can keep its lanes trained; with nobody.
		why["negotiated"] = api.ReasonNotConnected
	} else {
		to.Negotiated = speed(from.Negotiated, from.Capability, "negotiated", why)
	}
	for _, hub := range parentsFirst(from.Hubs) {
		to.Hubs = append(to.Hubs, hubOf(hub, from, why))
	}
	peers := slices.SortedFunc(slices.Values(from.Peers), func(a, b native.Peer) int {
		return cmp.Or(cmp.Compare(a.Hub, b.Hub), cmp.Compare(a.DomainUUID, b.DomainUUID), cmp.Compare(a.Name, b.Name))
	})
	for i, peer := range peers {
		to.Peers = append(to.Peers, peerOf(i, peer, from, why))
	}
	return to, why
}

// hubOf makes one hub. The speed of one that hangs on the port is the port's.
func hubOf(from native.Hub, port native.Port, why map[string]api.Reason) api.ThunderboltHub {
	to := api.ThunderboltHub{Route: from.Route, Parent: from.Parent, Vendor: from.Vendor, Name: from.Name}
	prefix := "hubs." + from.Route + "."
	addReasons(why, prefix, from.Unknown, to)
	to.Negotiated = hop(from.Negotiated, port, from.Unknown, prefix+"negotiated", from.Parent != "", why)
	return to
}

// peerOf makes one peer. Its speed, where no hub is between, is the port's.
func peerOf(number int, from native.Peer, port native.Port, why map[string]api.Reason) api.ThunderboltPeer {
	to := api.ThunderboltPeer{DomainUUID: from.DomainUUID, Name: from.Name, Vendor: from.Vendor, Hub: from.Hub}
	prefix := "peers." + cmp.Or(from.DomainUUID, strconv.Itoa(number)) + "."
	addReasons(why, prefix, from.Unknown, to)
	to.Negotiated = hop(from.Negotiated, port, from.Unknown, prefix+"negotiated", from.Hub != "", why)
	if from.Services == nil {
		return to
	}
	to.Services = []api.ThunderboltService{}
	for _, service := range from.Services {
		word := api.ServiceOther
		switch service.ProtocolID {
		case native.ProtocolIP:
			word = api.ServiceIP
		case native.ProtocolRDMA:
			word = api.ServiceRDMA
		}
		to.Services = append(to.Services, word)
	}
	slices.Sort(to.Services)
	to.Services = slices.Compact(to.Services)
	return to
}

// hop makes the speed of what hangs behind a hub; of what hangs on the port there is none,
// and no reason.
func hop(from *native.Link, port native.Port, unknown native.Reasons, field string, isBehind bool, why map[string]api.Reason) *api.ThunderboltSpeed {
	delete(why, field)
	if !isBehind {
		return nil
	}
	if reason := unknown["negotiated"]; reason != "" {
		why[field] = api.Reason(reason.Key())
	}
	return speed(from, port.Capability, field, why)
}

// speed makes a negotiated speed. Where there is none, why has the reason under
// the field's name.
func speed(from *native.Link, port native.ThunderboltVersion, field string, why map[string]api.Reason) *api.ThunderboltSpeed {
	switch {
	case from == nil:
		if why[field] == "" {
			why[field] = api.ReasonNotYetRead
		}
		return nil
	case from.State != native.LinkUp:
		why[field] = api.ReasonLinkDown
		return nil
	}
	delete(why, field)
	return &api.ThunderboltSpeed{
		TxBitsPerS: from.TxBitsPerS, RxBitsPerS: from.RxBitsPerS, TxLanes: from.TxLanes, RxLanes: from.RxLanes,
		Generation: signalled(from.Generation, port),
	}
}

// signalled gives the rate of a lane the name that people know. Thunderbolt 3
// and 4 both use lanes of 20 Gb/s: then it is the newer one that the port can do,
// and not told where the port does not tell.
func signalled(lanes native.Generation, port native.ThunderboltVersion) api.ThunderboltGeneration {
	switch lanes {
	case native.Gen4:
		return api.Thunderbolt5
	case native.Gen2:
		return api.Thunderbolt3
	case native.Gen3:
		switch port {
		case native.TB4, native.TB5:
			return api.Thunderbolt4
		case native.TB3:
			return api.Thunderbolt3
		}
	}
	return ""
}

// parentsFirst orders hubs so that each comes after the one it hangs on, and
// alike however the system listed them. What hangs on nothing that is listed, or
// on itself, comes last: the facts were torn, and the next reading mends them.
func parentsFirst(hubs []native.Hub) []native.Hub {
	rest := slices.SortedFunc(slices.Values(hubs), func(a, b native.Hub) int { return cmp.Compare(a.Route, b.Route) })
	ordered := make([]native.Hub, 0, len(rest))
	placed := map[string]bool{"": true}
	for len(rest) > 0 {
		at := slices.IndexFunc(rest, func(h native.Hub) bool { return placed[h.Parent] })
		if at < 0 {
			return append(ordered, rest...)
		}
		placed[rest[at].Route] = true
		ordered = append(ordered, rest[at])
		rest = slices.Delete(rest, at, at+1)
	}
	return ordered
}
