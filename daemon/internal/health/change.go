package health

import "fulmen/daemon/api"

// changeConditions are about what Fulmen changed for RDMA at this end of a cable.
func changeConditions() []Info {
	return []Info{
		{Code: api.ReasonAddressLost, DependsOn: []api.Reason{api.ReasonLinkDown},
			Remedy: "Fulmen has made its network service anew. If the address stays away, replug the cable, then restart the Mac."},
		{Code: api.ReasonRDMAUndoPartial, Remedy: "Put back by hand what it names, in System Settings, Network; then run `fulmen rdma undo`.",
			Action: command("Try again", "fulmen rdma undo")},
	}
}
