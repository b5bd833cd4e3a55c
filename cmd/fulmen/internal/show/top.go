package show

import (
	"cmp"
	"slices"

	"fulmen/app"
	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Top writes how the Macs, their cables and the jobs are now.
func (v View) Top(w *Page, s app.State) {
	if s.Daemon != app.DaemonRunning {
		w.Line(choose(s.Daemon == app.DaemonConnecting, "Fulmen is asked.", "Fulmen does not answer. This goes on when it does."))
		return
	}
	var views []api.NodeView
	slices.SortFunc(s.Nodes, func(a, b app.Node) int {
		return cmp.Or(cmp.Compare(a.ShortName, b.ShortName), cmp.Compare(a.NodeView.Node, b.NodeView.Node))
	})
	for _, n := range s.Nodes {
		views = append(views, n.NodeView)
	}
	n := NamesOf(views)
	w.Line(totals(s.Totals))
	if len(s.Conditions) > 0 {
		w.Line(text.Count(len(s.Conditions), "thing") + " to know: fulmen status")
	}
	w.Line("")
	v.topMacs(w, s.Nodes)
	if len(s.Cables) > 0 {
		table := text.NewTable("CABLE", "SPEED", "MEASURED", "RDMA", "VERDICT").Less("MEASURED")
		for _, c := range s.Cables {
			table.Row(n.cable(c), cableSpeed(c), orNone(measured(c)), rdmaVerdict(c.RDMA), cableVerdict(c))
			table.Mark("VERDICT", simulated(c.Simulated))
		}
		w.Line("")
		w.Table(table)
	}
	jobs := slices.DeleteFunc(slices.Clone(s.Jobs), func(j api.JobSummary) bool { return j.Phase.Ended() })
	w.Line("")
	v.Jobs(w, jobs, false, n)
}

func (v View) topMacs(w *Page, macs []app.Node) {
	table := text.NewTable("NAME", "STATE", "GPU", "CPU", "MEMORY", "POWER", "HEAT").Less("CPU", "HEAT")
	for _, mac := range macs {
		var system api.System
		var memory api.Memory
		var kind api.GPUMemory
		if mac.Liveness.Reached() { // of the others nothing moves
			system, memory = valueOf(mac.System), valueOf(mac.Memory)
			kind = valueOf(mac.Identity).GPUMemory
		}
		power := watts(system)
		if system.PowerSource == api.PowerBattery {
			power = join(", ", power, "battery"+prefixed(" ", given(system.BatteryRatio, text.Percent)))
		}
		heat := orNone(string(system.ThermalState))
		if t := system.GPUTemperatureCelsius; t != nil {
			heat += ", " + text.Fixed(*t, 0) + " °C"
		}
		table.Row(mac.ShortName+choose(mac.Self, " *", ""), v.state(mac.NodeView), given(system.GPUUseRatio, text.Percent), given(system.CPUUseRatio, text.Percent),
			v.memoryOf(memory, kind, api.Document{}), orNone(power), heat)
		table.Mark("STATE", simulated(mac.Simulated))
	}
	w.Table(table)
}

// valueOf is what is known, or nothing.
func valueOf[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
