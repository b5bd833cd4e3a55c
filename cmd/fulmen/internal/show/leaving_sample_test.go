package show

import (
	"net/netip"
	"time"

	"fulmen/daemon/api"
)

// leavingScreens are those of what was changed and of what is taken away.
func leavingScreens(view, wide View) map[string]func(*Page) {
	first := link(end(studio, 1), end(second, 1))
	found := "10.0.0.1"
	step := func(what api.RDMAStepKind, text string, state api.RDMAStepState) api.RDMAStep {
		return api.RDMAStep{What: what, Setting: "setting", Text: text, State: state}
	}
	taken := step(api.RDMAStepBridge, "Take en3 out of the Thunderbolt Bridge (bridge0).", api.RDMAStepDone)
	given := step(api.RDMAStepAddress, "Give en3 the address 169.254.1.1/30.", api.RDMAStepLeft)
	given.Found = &found
	ada := api.Principal{User: "ada", Node: studio}
	changes := []api.RDMAChange{
		{Link: first, Change: "c2", State: api.RDMAChangeActive, Since: before(3 * time.Minute), By: ada, Interface: "en3", Address: netip.MustParsePrefix("169.254.1.1/30"),
			Steps: []api.RDMAStep{taken}},
		{Link: first, Change: "c1", State: api.RDMAChangePartial, Since: before(50 * time.Hour), By: ada, UndoneBy: api.Principal{User: "eve\x1b[2J", Node: second}, Steps: []api.RDMAStep{taken, given}},
	}
	fast, slow := int64(74.8e9), int64(41e9)
	tests := []api.PathHistory{{
		LinkRowKey: api.LinkRowKey{From: studio, To: second, Transport: api.TransportRDMA, Name: first.String()},
		Best:       &api.LinkResult{UpBitsPerS: &fast, DownBitsPerS: &fast, RTTUS: ptr(18.), JitterUS: ptr(2.)},
		Results:    []api.LinkResult{{MeasuredAt: before(7 * time.Hour), UpBitsPerS: &slow, DownBitsPerS: &fast, RTTUS: ptr(19.), JitterUS: ptr(4.)}},
	}}
	plan := api.UninstallPlan{Items: []api.UninstallItem{
		{Kind: api.UninstallService, Path: "/Library/LaunchDaemons/org.fulmen.daemon.plist", Bytes: 900},
		{Kind: api.UninstallRuntime, Path: "/var/run/fulmen"},
		{Kind: api.UninstallLogs, Path: "/Library/Logs/Fulmen/fulmend.log", Bytes: 2 << 20},
		{Kind: api.UninstallState, Path: "/Library/Application Support/Fulmen/state.db", Bytes: 5 << 20},
		{Kind: api.UninstallOutput, Path: "/Library/Application Support/Fulmen/jobs", Bytes: 3 << 30, Jobs: 12, Stays: "You asked to keep it."},
		{Kind: api.UninstallUndo, Path: "/Library/Application Support/Fulmen/rdma-undo.json", Bytes: 700, Stays: "It has changes of the network settings that were not put back. Installing Fulmen again offers to do so."},
		{Kind: api.UninstallPrograms, Path: "/Applications/Fulmen.app", Bytes: 300 << 20},
	}}
	undo := []api.NodeRDMAChange{{Node: studio, RDMAChange: api.RDMAChange{Link: first, Steps: []api.RDMAStep{taken}}}}
	gone := api.UninstallResult{Removed: plan.Items[:2], Stayed: plan.Items[4:6]}
	stuck := api.UninstallResult{Failed: []api.UninstallFailure{{Path: "/etc/fulmen/config.toml", Message: "permission denied"}}}
	return map[string]func(*Page){
		"rdma_past":         func(w *Page) { view.RDMAPast(w, changes, tests, bothList().Nodes) },
		"rdma_past_wide":    func(w *Page) { wide.RDMAPast(w, changes, tests, bothList().Nodes) },
		"rdma_past_none":    func(w *Page) { view.RDMAPast(w, nil, nil, bothList().Nodes) },
		"uninstall":         func(w *Page) { view.Uninstall(w, plan, undo, 4, true) },
		"uninstall_offline": func(w *Page) { view.Uninstall(w, plan, nil, 0, false) },
		"uninstall_nothing": func(w *Page) { view.Uninstall(w, api.UninstallPlan{}, nil, 0, false) },
		"uninstalled":       func(w *Page) { view.Uninstalled(w, gone) },
		"uninstalled_not":   func(w *Page) { view.Uninstalled(w, stuck) },
	}
}
