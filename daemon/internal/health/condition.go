package health

import (
	"slices"

	"fulmen/daemon/api"
)

// Conditions that have no row in the API's table of reasons yet.
const (
	// WorkerAborted: the measuring process gave up by itself, as MLX does on an
	// error that has nobody to go to.
	WorkerAborted api.Reason = "worker_aborted"
	// BLASSlow: matrix products on the CPU run with MLX's reference BLAS.
	BLASSlow api.Reason = "blas_slow"
	// PSIUnavailable: this Linux does not announce memory pressure.
	PSIUnavailable api.Reason = "psi_unavailable"
	// ClockStepped: the wall clock was set while the daemon ran.
	ClockStepped api.Reason = "clock_stepped"
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
// Severity, text and remedy are those of the API's table of reasons where they
// are left out here; so an error and a condition of one reason read alike.
func Conditions() []Info {
	all := slices.Concat(daemonConditions(), machineConditions(), workerConditions())
	for i := range all {
		reason, _ := api.LookupReason(all[i].Code)
		if all[i].Severity == "" {
			all[i].Severity = reason.Severity
		}
		if all[i].Text == "" {
			all[i].Text = reason.Text
		}
		if all[i].Remedy == "" {
			all[i].Remedy = reason.Remedy
		}
	}
	return all
}

// daemonConditions are about the daemon and its folders.
func daemonConditions() []Info {
	return []Info{
		{Code: api.ReasonConfigInvalid, Remedy: "Mend that line; the daemon reads the file again when it is saved.",
			Action: command("Show the configuration", "fulmen config")},
		{Code: api.ReasonStateCorrupt, Remedy: "Keep the file that was set aside if you need old measurements or jobs; nothing was deleted."},
		{Code: api.ReasonStateReadOnly, DependsOn: []api.Reason{api.ReasonDiskFull},
			Remedy: "Give the daemon's account the right to write there, then restart the daemon."},
		{Code: api.ReasonDiskFull, Remedy: "Free some space; the daemon goes on by itself."},
		{Code: api.ReasonAPIPortTaken,
			Remedy: "Nothing has to be done: clients find the port in use in api.json."},
		{Code: api.ReasonVersionSkew, Remedy: "Update Fulmen on the older ones."},
	}
}

// machineConditions are about this machine.
func machineConditions() []Info {
	return []Info{
		{Code: PSIUnavailable, Severity: api.SeverityInfo,
			Text:   "This system does not announce memory pressure, so memory is read only while somebody watches.",
			Remedy: "Start Linux with psi=1 if you want it."},
		{Code: ClockStepped, Severity: api.SeverityInfo,
			Text:   "The clock of this machine was set while Fulmen ran.",
			Remedy: "Nothing has to be done: dates shown before may be off, and no deadline is."},
		{Code: BLASSlow, Severity: api.SeverityWarning, DependsOn: []api.Reason{api.ReasonMLXMissing},
			Text:   "MLX computes on the processor with the slow reference BLAS, up to 30 times slower than OpenBLAS.",
			Remedy: "Install OpenBLAS (on Debian and Ubuntu: apt install libopenblas0-pthread), then measure again.",
			Action: measureGPU()},
		{Code: api.ReasonMLXMissing, Remedy: "Reinstall Fulmen; in a source tree, run `make deps build`."},
	}
}

// workerConditions are about the last measurement. Each is cleared by the next
// one that works.
func workerConditions() []Info {
	missing := []api.Reason{api.ReasonMLXMissing}
	return []Info{
		{Code: api.ReasonWorkerCrashed, Severity: api.SeverityWarning, DependsOn: missing, Action: measureGPU(),
			Remedy: "Measure again; if it repeats, `fulmen report` collects its last words."},
		{Code: WorkerAborted, Severity: api.SeverityWarning, DependsOn: missing, Action: measureGPU(),
			Text:   "The measuring process gave up on an error inside MLX.",
			Remedy: "Measure again; if it repeats, `fulmen report` collects its last words."},
		{Code: api.ReasonWorkerHung, Severity: api.SeverityWarning, DependsOn: missing, Action: measureGPU(),
			Remedy: "Measure again; if it repeats, restart the machine."},
		{Code: api.ReasonWorkerOutOfMemory, Severity: api.SeverityWarning, Action: measureGPU(),
			DependsOn: []api.Reason{api.ReasonMLXMissing, api.ReasonMemoryPressure},
			Remedy:    "Quit programs that use much memory, then measure again."},
		{Code: api.ReasonResultUnstable, Action: measureGPU(),
			DependsOn: []api.Reason{api.ReasonThermalPressure, api.ReasonLowPowerMode, api.ReasonMemoryPressure},
			Remedy:    "Measure again when the machine is idle."},
	}
}

// measureGPU is the click that measures again.
func measureGPU() *api.Action {
	return &api.Action{Kind: api.ActionMethod, Label: "Measure again", Target: "measure.gpu"}
}

// command is a click that shows what to type.
func command(label, line string) *api.Action {
	return &api.Action{Kind: api.ActionCommand, Label: label, Target: line}
}
