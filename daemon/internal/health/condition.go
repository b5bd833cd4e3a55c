package health

import (
	"cmp"

	"fulmen/daemon/api"
)

// Info is a registered condition.
type Info struct {
	// Code is its key.
	Code api.Reason
	// Severity is how much it matters.
	Severity api.Severity
	// Text is one sentence, complete by itself. A detail follows it after a colon.
	Text string
	// Remedy is the next step of a person; empty where there is none.
	Remedy string
	// Action is what a click can do about it; nil where there is nothing.
	Action *api.Action
	// DependsOn are the codes that, on the same subject, explain this one.
	DependsOn []api.Reason
}

// Conditions lists every registered condition, grouped by what it is about.
// Severity, text, remedy and what to type are those of the API's table of reasons where
// they are left out here; so an error and a condition of one reason read alike.
func Conditions() []Info {
	missing, flapping := []api.Reason{api.ReasonMLXMissing}, []api.Reason{api.ReasonLinkFlapping}
	gone := []api.Reason{api.ReasonLinkFlapping, api.ReasonLinkDown}
	all := []Info{
		// The daemon and its folders.
		{Code: api.ReasonConfigInvalid, Remedy: "Fix that line; the daemon reads the file again when it is saved."},
		{Code: api.ReasonConfigUnknownKey},
		{Code: api.ReasonNeedsRestart, Remedy: "Restart the daemon when it suits you."},
		{Code: api.ReasonKeyOnOtherHardware},
		{Code: api.ReasonRemoved},
		{Code: api.ReasonDuplicateIdentity},
		{Code: api.ReasonTooManyDocuments, Action: command("Show the Macs", "fulmen peers")},
		{Code: api.ReasonStateCorrupt, Remedy: "Nothing was deleted. If this Mac was in a cluster, run `fulmen pair` on another Mac of it and `fulmen join` here: what the others keep of this Mac comes back."},
		{Code: api.ReasonStateReadOnly, DependsOn: []api.Reason{api.ReasonDiskFull},
			Remedy: "Give the daemon's account the right to write there, then restart the daemon."},
		{Code: api.ReasonDiskFull, Remedy: "Free some space; the daemon goes on by itself."},
		{Code: api.ReasonOutputLost},
		{Code: api.ReasonAPIPortTaken, Remedy: "You need not do anything: clients find the port in use in api.json."},
		{Code: api.ReasonInsecurePermissions, Remedy: "Until only root can change it, Fulmen does not start it, and runs no job and no measurement here."},
		{Code: api.ReasonCrashLoop},
		{Code: api.ReasonProgramReplaced, Action: &api.Action{Kind: api.ActionMethod, Label: "Restart Fulmen", Target: "daemon.restart"}},
		{Code: api.ReasonVersionSkew, Remedy: "Update Fulmen on the older ones."},

		// This machine.
		{Code: api.ReasonPSIUnavailable},
		{Code: api.ReasonClockStepped},
		{Code: api.ReasonLocalNetworkDenied},
		{Code: api.ReasonClockSkew},
		{Code: api.ReasonClockFarOff},
		{Code: api.ReasonNetworkLost},
		{Code: api.ReasonNetworkIsolatesClients},
		{Code: api.ReasonThermalPressure},
		{Code: api.ReasonThermalCritical},
		{Code: api.ReasonMemoryPressure},
		{Code: api.ReasonMemoryCritical},
		{Code: api.ReasonBatteryLow},
		{Code: api.ReasonBLASSlow, DependsOn: missing, Action: measureGPU()},
		{Code: api.ReasonMLXMissing, Remedy: "Reinstall Fulmen; in a source tree, run `make deps build`."},
		{Code: api.ReasonMLXNoAnswer},

		// Its receptacles and what is plugged there. Only bridge_loop is about the machine as a
		// whole. link_below_history is also of networks, and the subject is then a path: a
		// peer's address.
		{Code: api.ReasonBridgeLoop},
		{Code: api.ReasonLinkFlapping},
		{Code: api.ReasonLinkDown, DependsOn: flapping},
		{Code: api.ReasonRDMAPortSuspect},
		{Code: api.ReasonRDMAProbesSpent},
		{Code: api.ReasonLinkBelowPorts, DependsOn: flapping},
		{Code: api.ReasonLinkBelowHistory},

		// RDMA over its cables. That a test failed is told by who measures, the rest by the
		// readiness.
		{Code: api.ReasonRDMAOneSided, DependsOn: gone, Remedy: "Turn it on here; the steps are in `fulmen rdma`."},
		{Code: api.ReasonRDMABuildsDiffer, DependsOn: gone},
		{Code: api.ReasonRDMANoIPv4GID, DependsOn: gone, Remedy: "Fulmen restores it by itself; if it does not come back, replug the cable."},
		{Code: api.ReasonRDMAProbeFailed, DependsOn: append(gone, api.ReasonRDMAPortSuspect)},

		// What Fulmen changed for RDMA at this end of a cable.
		{Code: api.ReasonAddressLost, DependsOn: []api.Reason{api.ReasonLinkDown},
			Remedy: "Fulmen has created its network service again. If the address does not come back, replug the cable, then restart the Mac."},
		{Code: api.ReasonRDMAUndoPartial, Remedy: "In System Settings, Network, put back by hand what the message names; then run `fulmen rdma undo`.",
			Action: command("Try again", "fulmen rdma undo")},

		// The last measurement. Each is cleared by the next one that works.
		{Code: api.ReasonWorkerCrashed, DependsOn: missing, Action: measureGPU(),
			Remedy: "Measure again; if it repeats, `fulmen report` saves what it printed last."},
		{Code: api.ReasonWorkerAborted, DependsOn: missing, Action: measureGPU(),
			Remedy: "Measure again; if it repeats, `fulmen report` saves what it printed last."},
		{Code: api.ReasonWorkerHung, DependsOn: missing, Action: measureGPU(),
			Remedy: "Measure again; if it repeats, restart the machine."},
		{Code: api.ReasonWorkerOutOfMemory, DependsOn: []api.Reason{api.ReasonMLXMissing, api.ReasonMemoryPressure, api.ReasonMemoryCritical}, Action: measureGPU(),
			Remedy: "Quit programs that use much memory, then measure again."},
		{Code: api.ReasonResultUnstable, Action: measureGPU(), DependsOn: []api.Reason{
			api.ReasonThermalPressure, api.ReasonThermalCritical, api.ReasonLowPowerMode, api.ReasonMemoryPressure, api.ReasonMemoryCritical},
			Remedy: "Measure again when the machine is idle."},
	}
	for i := range all {
		one := &all[i]
		reason, _ := api.LookupReason(one.Code)
		one.Severity, one.Text, one.Remedy = reason.Severity, reason.Text, cmp.Or(one.Remedy, reason.Remedy)
		if label := labels[reason.Command]; one.Action == nil && label != "" {
			one.Action = command(label, reason.Command)
		}
	}
	return all
}

// measureGPU is the click that measures again.
func measureGPU() *api.Action {
	return &api.Action{Kind: api.ActionMethod, Label: "Measure again", Target: "measure.gpu"}
}

// labels are what buttons say that show commands of the table of reasons. Those that
// show what a screen shows anyway have none.
var labels = map[string]string{
	"fulmen config": "Show the configuration", "fulmen links history": "Show what it gave earlier", "fulmen logs": "Show the log",
	"fulmen nodes": "Show the Macs", "fulmen peers": "Show the paths", "fulmen rdma check": "Show what is missing", "fulmen topology": "Show the cables",
}

// command is a click that shows what to type.
func command(label, line string) *api.Action {
	return &api.Action{Kind: api.ActionCommand, Label: label, Target: line}
}
