package show

import (
	"fulmen/app"
	"fulmen/daemon/api"
)

// topState is three Macs, of which one is asleep, with cables and jobs.
func topState() app.State {
	nodes := clusterNodes()
	s := app.State{
		Daemon: app.DaemonRunning, Totals: api.Totals{Members: 3, Nodes: 2, MemoryTotalBytes: ptr(int64(1 << 40)), PowerWatts: ptr(230.0), PowerNodes: 2},
		Conditions: conditions(), Cables: clusterLinks().Cables, Jobs: jobList(),
	}
	for i, n := range nodes {
		s.Nodes = append(s.Nodes, app.Node{
			NodeView: n,
			System:   &api.System{GPUUseRatio: ptr(0.97), CPUUseRatio: ptr(0.12), SystemPowerWatts: ptr(200.0), ThermalState: api.ThermalNominal, GPUTemperatureCelsius: ptr(71.4)},
			Memory:   &api.Memory{TotalBytes: ptr(int64(512 << 30)), UsedBytes: ptr(int64(300 << 30)), Pressure: api.PressureNormal},
		})
		if i == 1 {
			s.Nodes[i].System = &api.System{PackagePowerWatts: ptr(30.0), ThermalState: api.ThermalSerious, PowerSource: api.PowerBattery, BatteryRatio: ptr(0.4)}
			s.Nodes[i].Memory = nil
		}
	}
	return s
}

func topScreens(view View) map[string]func(*Page) {
	return map[string]func(*Page){
		"top":      func(w *Page) { view.Top(w, topState()) },
		"top_gone": func(w *Page) { view.Top(w, app.State{Daemon: app.DaemonGone}) },
	}
}
