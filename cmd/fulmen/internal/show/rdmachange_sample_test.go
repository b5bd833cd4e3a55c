package show

import (
	"io"
	"net/netip"
	"slices"

	"fulmen/daemon/api"
)

// changeScreens are those of changes for RDMA.
func changeScreens(view View) map[string]func(*Page) {
	one, two := link(end(studio, 1), end(second, 1)), link(end(studio, 2), end(second, 2))
	text := func(s string) *string { return &s }
	at := func(node api.NodeID, l api.LinkID, iface, address string, state api.RDMAChangeState, step api.RDMAStepState) api.NodeRDMAChange {
		return api.NodeRDMAChange{Node: node, RDMAChange: api.RDMAChange{
			Link: l, State: state, Interface: iface, Address: netip.MustParsePrefix(address),
			Steps: []api.RDMAStep{
				{What: api.RDMAStepBridge, Text: "Take " + iface + " out of the Thunderbolt Bridge (bridge0).", State: step},
				{What: api.RDMAStepService, Text: "Give " + iface + " a network service of its own, \"Fulmen Thunderbolt 1\", with the address " + address + ".", State: step},
			},
		}}
	}
	enabled := api.RDMAChangeResult{
		Changes: []api.NodeRDMAChange{
			at(studio, one, "en3", "169.254.1.1/30", api.RDMAChangeActive, api.RDMAStepDone),
			at(second, one, "en3", "169.254.1.2/30", api.RDMAChangeActive, api.RDMAStepDone),
		},
		Refused: []api.Cause{{Reason: api.ReasonRDMAChangesRefused, Message: "book\x1b[2J: The Mac at the other end does not allow RDMA changes from here.", Remedy: "Allow them there: `fulmen sharing set rdma_changes=members`."}},
	}
	enabled.Changes[1].Reason, enabled.Changes[1].Message = api.ReasonJACCLMissing, "This build of MLX has no JACCL."
	undone := api.RDMAChangeResult{Changes: []api.NodeRDMAChange{
		at(studio, one, "en3", "169.254.1.1/30", api.RDMAChangeUndone, api.RDMAStepUndone),
		at(second, one, "en3", "169.254.1.2/30", api.RDMAChangePartial, api.RDMAStepUndone),
		at(second, two, "en4", "169.254.1.6/30", api.RDMAChangeUndone, api.RDMAStepUndone),
	}}
	left := &undone.Changes[1].Steps[1]
	left.State, left.Found = api.RDMAStepLeft, text("My cable: manual 10.0.0.1/24")
	undone.Changes[2].Message = "mac-studio: no data came over the cable"
	dry := api.RDMAChangeResult{Changes: []api.NodeRDMAChange{
		at(studio, one, "en3", "169.254.1.1/30", api.RDMAChangePlanned, api.RDMAStepPlanned),
		at(second, one, "en3", "169.254.1.2/30", api.RDMAChangePlanned, api.RDMAStepPlanned),
		at(studio, two, "en4", "169.254.1.5/30", api.RDMAChangePlanned, api.RDMAStepPlanned),
		at(second, two, "en4", "169.254.1.6/30", api.RDMAChangePlanned, api.RDMAStepPlanned),
	}}
	return map[string]func(*Page){
		"rdma_enable":      func(w *Page) { view.RDMAChanges(w, enabled, ChangeOf{}, clusterNodes()) },
		"rdma_enable_dry":  func(w *Page) { view.RDMAChanges(w, dry, ChangeOf{Dry: true}, clusterNodes()) },
		"rdma_enable_none": func(w *Page) { view.RDMAChanges(w, api.RDMAChangeResult{}, ChangeOf{}, nil) },
		"rdma_enable_ready": func(w *Page) {
			view.RDMAChanges(w, api.RDMAChangeResult{}, ChangeOf{Named: true}, nil)
		},
		"rdma_undo": func(w *Page) { view.RDMAChanges(w, undone, ChangeOf{Undo: true}, clusterNodes()) },
		"rdma_undo_dry": func(w *Page) {
			view.RDMAChanges(w, api.RDMAChangeResult{Changes: enabled.Changes}, ChangeOf{Undo: true, Dry: true}, clusterNodes())
		},
		"rdma_undo_none": func(w *Page) { view.RDMAChanges(w, api.RDMAChangeResult{}, ChangeOf{Undo: true}, nil) },
		"rdma_progress": func(w *Page) {
			for _, c := range enabled.Changes {
				c.Steps = slices.Clone(c.Steps)
				for _, state := range c.State.Values() {
					c.State, c.Steps[1].State = api.RDMAChangeState(state), api.RDMAStepPlanned
					io.WriteString(w, RDMAProgress(c.Node, c.RDMAChange, clusterNodes())+"\n")
				}
			}
		},
	}
}
