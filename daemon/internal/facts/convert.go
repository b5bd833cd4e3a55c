package facts

import (
	"cmp"
	"reflect"
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

// missing notes the reason of a field of the platform, if it has one.
func missing(to map[string]api.Reason, name string, from native.Reasons, field string) {
	if why := from[field]; why != "" {
		to[name] = api.Reason(why.Key())
	}
}

// identity makes the value of the identity document.
func identity(from native.Identity, static Static) (api.Identity, map[string]api.Reason) {
	name := cmp.Or(static.FriendlyName, from.Name, from.HostName)
	to := api.Identity{
		PublicKey: static.PublicKey, FulmenVersion: static.FulmenVersion, Protocol: static.Protocol, StartedAt: static.StartedAt,
		Name: name, ShortName: static.ShortName(name), Platform: static.platform(), Architecture: from.Architecture,
		Model: from.Model, ModelName: from.ModelName, Chip: from.Chip,
		OSName: from.OSName, OSVersion: from.OSVersion, OSBuild: from.OSBuild,
		CPUCores: from.CPUCores, CPUPerformanceCores: from.CPUPerformanceCores, CPUEfficiencyCores: from.CPUEfficiencyCores,
		GPUName: from.GPUName, GPUCores: from.GPUCores, UnifiedMemory: from.UnifiedMemory,
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
