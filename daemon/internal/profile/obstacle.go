package profile

import (
	"fulmen/daemon/api"
	"fulmen/native"
)

// ObstacleIn is the first thing in a snapshot that speaks against measuring: the battery, too
// little memory, heat. Jobs and other programs are the arbiter's.
func ObstacleIn(s native.Snapshot, name string, node api.NodeID) *api.Error {
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
