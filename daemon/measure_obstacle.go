package daemon

import (
	"context"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

// obstacleWithin bounds the reading of what may speak against measuring.
const obstacleWithin = 2 * time.Second

// obstacle says why nothing should be measured on this node now: the battery, too
// little memory, heat. Jobs and other programs are the arbiter's.
func (d *daemon) obstacle(ctx context.Context) *api.Error {
	ctx, cancel := native.WithTimeout(ctx, d.platform.Clock, obstacleWithin, "the state of this machine")
	defer cancel()
	snapshot, err := d.platform.Facts.Snapshot(ctx, native.AreaSystem, native.AreaMemory)
	if err != nil {
		return nil // nothing is known to speak against it
	}
	return obstacleIn(snapshot, d.shortNameOf(d.identity.Node), d.identity.Node)
}

// obstacleIn is the first thing in a snapshot that speaks against measuring.
func obstacleIn(s native.Snapshot, name string, node api.NodeID) *api.Error {
	if s.System != nil {
		switch s.System.PowerSource {
		case native.PowerBattery, native.PowerUPS:
			e := api.Errorf(api.ReasonOnBattery, string(node), "%s runs on its battery.", name)
			e.Data.Remedy = "Connect it to power."
			return e
		}
		switch s.System.ThermalState {
		case native.ThermalSerious, native.ThermalCritical:
			return api.Errorf(api.ReasonThermalPressure, string(node), "%s is too hot and slows down.", name)
		}
	}
	if s.Memory != nil {
		switch s.Memory.Pressure {
		case native.PressureWarning, native.PressureCritical:
			return api.Errorf(api.ReasonMemoryPressure, string(node), "%s is short of memory.", name)
		}
	}
	return nil
}
