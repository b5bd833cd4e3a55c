package show

import (
	"slices"

	"fulmen/daemon/api"
)

// readyCables are three cables: one that is ready, one whose other end's switch is
// off, one that can be enabled.
func readyCables() api.RDMAListResult {
	ends := func(l api.LinkID) []api.CableEnd {
		return []api.CableEnd{
			{End: l.Low, Place: "back, leftmost", Interface: "en3", Device: "rdma_en3"},
			{End: l.High, Place: "back, leftmost", Interface: "en3", Device: "rdma_en3"},
		}
	}
	one, two, three := link(end(studio, 1), end(second, 1)), link(end(studio, 2), end(second, 2)), link(end(studio, 3), end(book, 2))
	check := func(key api.RDMACheckKey, at api.LinkEnd, text string) api.RDMACheck {
		return api.RDMACheck{Check: key, End: at, Answer: api.AnswerYes, Text: text}
	}
	off := check(api.CheckSwitch, three.High, "RDMA is switched off on book.")
	off.Answer, off.Reason, off.Remedy = api.AnswerNo, api.ReasonRDMASwitchOff, "Start book in Recovery and run there: rdma_ctl enable. It takes about 4 minutes."
	device := check(api.CheckDevice, three.High, "Port 2 of book (left, rear) has no RDMA device while the switch is off.")
	device.Answer, device.Reason = api.AnswerNo, api.ReasonRDMASwitchOff
	beside := check(api.CheckPortNumber, three.Low, "Port 3 of mac-studio (back, third) is beside the Ethernet socket, where RDMA is reported to fail on some Macs.")
	beside.Answer, beside.Reason, beside.Advice, beside.Remedy = api.AnswerNo, api.ReasonRDMABesideEthernet, true, "If RDMA does not work here, use another port of mac-studio."
	needs := ends(three)
	needs[0].Place, needs[1] = "back, third", api.CableEnd{End: three.High, Place: "left, rear", Interface: "en2"}
	return api.RDMAListResult{
		Price: "1 Mac needs one trip to Recovery, about 4 minutes.",
		Links: []api.RDMAReadiness{
			{Link: one, Ends: ends(one), Verdict: api.RDMAReady, Text: "Jobs on mac-studio and mac-studio-2 can use RDMA over this cable at its full speed.", Simulated: true, ProbesSinceBoot: 2,
				Checks: []api.RDMACheck{check(api.CheckSpeed, api.LinkEnd{}, "The cable runs at 80 Gb/s each way.")}},
			{Link: two, Ends: ends(two), Verdict: api.RDMACanEnable, Simulated: true,
				Text: "Enabling takes the cable out of the Thunderbolt Bridge and gives both ends addresses of their own. It can be put back at any time."},
			{Link: three, Ends: needs, Verdict: api.RDMANeedsPerson, Text: "One thing is missing: RDMA is switched off on book.", Simulated: true,
				Checks: []api.RDMACheck{check(api.CheckSpeed, api.LinkEnd{}, "The cable runs at 80 Gb/s each way."), beside, check(api.CheckSwitch, three.Low, "RDMA is switched on at mac-studio."), off, device}},
			{Ends: []api.CableEnd{{End: end(studio, 4), Interface: "en6"}}, PeerName: "guest\x1b[2J", Verdict: api.RDMANeedsPerson,
				Text: "One thing is missing: the machine at the other end (guest\x1b[2J) does not run Fulmen, or is not in this cluster."},
		},
		UserActions: []api.RDMAUserAction{
			{Node: book, Kind: api.UserActionRecovery, EstimateS: 240, Links: []api.LinkID{three}, Note: "book is away. Fulmen cannot see what happens in Recovery or at the start; it goes on here when book is back.",
				Steps: []api.UserActionStep{{Text: "Shut book down: Apple menu, Shut Down.", Done: true}, {Text: "Press and hold its power button until the startup options appear. Choose Options, then Continue; sign in if asked."},
					{Text: "In the menu bar choose Utilities, Terminal. Type rdma_ctl enable and press Return."}, {Text: "Choose Apple menu, Restart, and log in again."}}},
			{Node: second, Kind: api.UserActionRestart, EstimateS: 90, Links: []api.LinkID{one, two}, Done: true, Note: "Done: RDMA is on at mac-studio-2.",
				Steps: []api.UserActionStep{{Text: "Turn RDMA on at mac-studio-2.", Done: true}, {Text: "Restart mac-studio-2: Apple menu, Restart.", Done: true}}},
		},
	}
}

// untestedLinks are the cluster's, with a cable that is ready and that nobody tested.
func untestedLinks() api.LinkListResult {
	all := clusterLinks()
	all.Rows = slices.DeleteFunc(all.Rows, func(r api.LinkRow) bool { return r.Transport == api.TransportRDMA })
	all.Cables[0].LinkNumbers = api.LinkNumbers{}
	return all
}
