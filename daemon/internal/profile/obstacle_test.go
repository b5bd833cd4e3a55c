package profile

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native"
)

func TestObstacles(t *testing.T) {
	for name, tt := range map[string]struct {
		snapshot native.Snapshot
		want     api.Reason
	}{
		"nothing known": {native.Snapshot{}, ""},
		"idle": {native.Snapshot{System: &native.System{PowerSource: native.PowerAC, ThermalState: native.ThermalFair},
			Memory: &native.Memory{Pressure: native.PressureNormal}}, ""},
		"on battery":      {native.Snapshot{System: &native.System{PowerSource: native.PowerBattery}}, api.ReasonOnBattery},
		"on a UPS":        {native.Snapshot{System: &native.System{PowerSource: native.PowerUPS}}, api.ReasonOnBattery},
		"hot":             {native.Snapshot{System: &native.System{ThermalState: native.ThermalSerious}}, api.ReasonThermalPressure},
		"short of memory": {native.Snapshot{Memory: &native.Memory{Pressure: native.PressureWarning}}, api.ReasonMemoryPressure},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			got := obstacleIn(tt.snapshot, "book", "")
			is.Equal(got != nil, tt.want != "")
			if got != nil {
				is.Equal(got.Data.Reason, tt.want)
			}
		})
	}
}
