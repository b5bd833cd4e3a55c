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

// Unannounced is the condition of a system that does not announce what it should, and
// its detail; empty where there is none.
func Unannounced(platform string, c native.Capabilities) (code api.Reason, detail string) {
	if pressure := c[native.HintsFeature(native.AreaMemory)]; platform == "linux" && !pressure.Supported {
		return api.ReasonPSIUnavailable, pressure.Reason.Detail()
	}
	return "", ""
}
