package daemon

import (
	"context"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/facts"
	"fulmen/daemon/internal/proc"
	"fulmen/native"
)

// raise raises a condition of this node. Where it cannot be published, the log
// has it.
func (d *daemon) raise(code api.Reason, detail string) {
	if err := d.health.Raise(code, "", detail); err != nil {
		d.logs.part("health").Error("a condition could not be raised", "code", code, "detail", detail, "error", err)
	}
}

func (d *daemon) clear(codes ...api.Reason) {
	for _, code := range codes {
		if err := d.health.Clear(code, ""); err != nil {
			d.logs.part("health").Error("a condition could not be cleared", "code", code, "error", err)
		}
	}
}

// configured hears how the configuration file and what is in force relate.
// It may be called from several sides: each says what is so then.
func (d *daemon) configured() {
	if !d.canRaise.Load() {
		return // asked again when there is a health
	}
	d.configuring.Lock()
	defer d.configuring.Unlock()
	status := d.live.Status()
	d.clear(api.ReasonConfigInvalid, api.ReasonConfigUnknownKey, api.ReasonNeedsRestart)
	for _, condition := range status.Conditions(api.TimeOf(d.platform.Clock.Now())) {
		d.raise(condition.Code, condition.Text)
	}
}

// diskFull hears that the database has found no room on the disk, or has again. The
// condition is no document that the database keeps, so that it can be told in both.
func (d *daemon) diskFull() {
	if !d.canRaise.Load() {
		return // while starting, the error says it
	}
	go func() { // whoever writes holds the ledger
		d.telling.Lock()
		defer d.telling.Unlock()
		if d.database.IsFull() {
			d.raise(api.ReasonDiskFull, "the disk of "+d.folders.State)
		} else {
			d.clear(api.ReasonDiskFull)
		}
	}()
}

// circumstances are those of a measurement that begins now.
func (d *daemon) circumstances(ctx context.Context) (api.MeasureConditions, map[string]api.Reason) {
	var now api.MeasureConditions
	why := map[string]api.Reason{}
	snapshot, err := d.platform.Facts.Snapshot(ctx, native.AreaIdentity, native.AreaSystem)
	if err != nil || snapshot.Identity == nil || snapshot.System == nil {
		for _, field := range []string{"os_build", "thermal_state", "power_source", "low_power_mode"} {
			why[field] = api.ReasonReadFailed
		}
		return now, why
	}
	now.OSBuild = snapshot.Identity.OSBuild
	now.ThermalState = api.ThermalState(snapshot.System.ThermalState)
	now.PowerSource = facts.PowerSource(snapshot.System.PowerSource)
	now.LowPowerMode = snapshot.System.LowPowerMode
	for field, reason := range snapshot.System.Unknown {
		switch field {
		case "thermal_state", "power_source", "low_power_mode":
			why[field] = api.Reason(reason.Key())
		}
	}
	return now, why
}

// workerEnvironment is what a worker gets of the daemon's environment: what it
// needs to find its libraries, and nothing that could change what it measures.
func workerEnvironment(environ []string) []string {
	return proc.Environment(environ, "PATH", "HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH", "FULMEN_BLAS")
}

// tellPlatform asks what this system can do, once, since asking opens and closes
// every source of hints, and raises the conditions about what it cannot announce.
func (d *daemon) tellPlatform(ctx context.Context) {
	capabilities, err := d.platform.Facts.Capabilities(ctx)
	if err != nil {
		d.logs.part("daemon").Warn("the platform does not tell what it can do", "error", err)
		return
	}
	d.capabilities = capabilities
	pressure := capabilities[native.HintsFeature(native.AreaMemory)]
	if d.platform.Name == "linux" && !pressure.Supported {
		d.raise(api.ReasonPSIUnavailable, pressure.Reason.Detail())
	}
}
