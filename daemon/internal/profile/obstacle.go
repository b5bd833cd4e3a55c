package profile

import (
	"context"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

// obstacleIn is the first thing in a snapshot that speaks against measuring: the battery, too
// little memory, heat. Jobs and other programs are the arbiter's.
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

// obstacleWithin bounds the reading of what may speak against measuring.
const obstacleWithin = 2 * time.Second

// Obstacle says why nothing should be measured on a node now; nil = nothing is known to
// speak against it. name is what people call the node.
func Obstacle(ctx context.Context, clock native.Clock, machine native.Facts, name string, node api.NodeID) *api.Error {
	ctx, cancel := native.WithTimeout(ctx, clock, obstacleWithin, "the state of this machine")
	defer cancel()
	snapshot, err := machine.Snapshot(ctx, native.AreaSystem, native.AreaMemory)
	if err != nil {
		return nil
	}
	return obstacleIn(snapshot, name, node)
}
