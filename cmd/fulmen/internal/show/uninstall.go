package show

import (
	"cmp"
	"fmt"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Install shows what has the system start the daemon.
func (v View) Install(w *Page, plan api.InstallPlan, isDryRun bool) {
	written, run := "Written", "Run"
	if isDryRun {
		written, run = "Would be written", "Would be run"
	}
	for _, f := range plan.Files {
		if f.IsCurrent {
			w.Line("As it is to be: " + f.Path)
		} else {
			w.Line(written + ": " + f.Path)
		}
	}
	for _, c := range plan.Commands {
		w.Line(run + ": " + c)
	}
	if !isDryRun {
		w.Line("Fulmen runs, and is started by the system from now on.")
	}
}

// Uninstall shows what goes and what stays when Fulmen is taken off the machine.
func (v View) Uninstall(w *Page, plan api.UninstallPlan, changes []api.NodeRDMAChange, members int, runs bool) {
	goes, stays := text.NewTable(), text.NewTable()
	has := [2]bool{}
	for _, item := range plan.Items {
		if item.Stays == "" {
			has[0] = true
			goes.Row("  "+uninstallWord(item), item.Path, text.Bytes(item.Bytes))
		} else {
			has[1] = true
			stays.Row("  "+uninstallWord(item), item.Path, item.Stays)
		}
	}
	heading := "These network settings are put back first:\n"
	for _, change := range changes {
		for _, step := range change.Steps {
			fmt.Fprintf(w, "%s  %s\n", heading, text.Clean(step.Text))
			heading = ""
		}
	}
	if members > 1 {
		w.Line(fmt.Sprintf("This Mac leaves its cluster of %d, for good; the others keep theirs.", members))
	}
	switch {
	case runs:
		w.Line("Jobs that run here are ended, and the daemon is stopped.")
	case len(plan.Items) > 0:
		fmt.Fprintln(w, "The daemon does not run: this Mac cannot tell its cluster that it leaves (remove it there with fulmen remove), and\nnetwork settings that were changed for RDMA stay as they are.")
	}
	if has[0] {
		w.Line("These will be removed:")
		w.Table(goes)
	}
	if has[1] {
		w.Line("These will be kept:")
		w.Table(stays)
	}
	if len(plan.Items) == 0 {
		w.Line("Fulmen is not installed here.")
	}
}

// Uninstalled shows what has become of it.
func (v View) Uninstalled(w *Page, r api.UninstallResult) {
	for _, f := range r.Failed {
		w.Line("Not removed: " + f.Path + ": " + f.Message)
	}
	for _, item := range r.Stayed {
		w.Line("Kept: " + item.Path + ". " + item.Stays)
	}
	if len(r.Failed) == 0 {
		w.Line("Fulmen has been removed from this machine.")
	}
}

// uninstallWord is what an item is.
func uninstallWord(item api.UninstallItem) string {
	return cmp.Or(map[string]string{
		api.UninstallService: "service", api.UninstallRuntime: "sockets", api.UninstallLogs: "log", api.UninstallConfiguration: "configuration",
		api.UninstallState: "state", api.UninstallOutput: "output of " + text.Count(item.Jobs, "job"), api.UninstallUndo: "changes for RDMA",
		api.UninstallPrograms: "program",
	}[item.Kind], item.Kind)
}
