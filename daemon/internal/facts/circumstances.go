package facts

import (
	"context"

	"fulmen/daemon/api"
	"fulmen/native"
)

// Circumstances are those of a measurement that begins now.
func Circumstances(ctx context.Context, machine native.Facts) (api.MeasureConditions, map[string]api.Reason) {
	var now api.MeasureConditions
	why := map[string]api.Reason{}
	snapshot, err := machine.Snapshot(ctx, native.AreaIdentity, native.AreaSystem)
	if err != nil || snapshot.Identity == nil || snapshot.System == nil {
		for _, field := range []string{"os_build", "thermal_state", "power_source", "low_power_mode"} {
			why[field] = api.ReasonReadFailed
		}
		return now, why
	}
	now.OSBuild = snapshot.Identity.OSBuild
	now.ThermalState = api.ThermalState(snapshot.System.ThermalState)
	now.PowerSource = PowerSource(snapshot.System.PowerSource)
	now.LowPowerMode = snapshot.System.LowPowerMode
	for field, reason := range snapshot.System.Unknown {
		switch field {
		case "thermal_state", "power_source", "low_power_mode":
			why[field] = api.Reason(reason.Key())
		}
	}
	return now, why
}

// MissesPressure is the condition of a system that should announce memory pressure and
// does not, and why; none where it does.
func MissesPressure(platform string, c native.Capabilities) (code api.Reason, why string) {
	pressure := c[native.HintsFeature(native.AreaMemory)]
	if platform != "linux" || pressure.Supported {
		return "", ""
	}
	return api.ReasonPSIUnavailable, pressure.Reason.Detail()
}
