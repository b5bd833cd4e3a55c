//go:build linux

package main

import (
	"time"

	"fulmen/app"
	"fulmen/daemon/api"
)

// picture is one that is made.
type picture struct {
	// name is the name of its file.
	name string
	// state is what the menu shows.
	state app.State
	// open are the submenus that are open, by how the ids of their lines begin.
	open []string
}

// pictures are all that are made.
func pictures() []picture {
	return []picture{
		{name: "menu", state: working()},
		{name: "menu-rdma", state: working(), open: []string{"cables", "cable:" + cable(1, 3, "").Link.String()}},
		{name: "menu-pairing", state: asked(), open: []string{"pending:"}},
		{name: "menu-setup", state: app.State{Now: now, Setup: app.SetupNeedsApproval, Preferences: preferences()}},
	}
}

var now = time.Date(2026, 11, 21, 9, 41, 0, 0, time.UTC)

func preferences() app.Preferences {
	return app.Preferences{LaunchAtLogin: true, Notifications: true, Title: app.TitleNothing}
}

func ago(d time.Duration) api.Time { return api.TimeOf(now.Add(-d)) }

func id(n byte) api.NodeID { return api.NodeIDFromKey([]byte{n}) }

// mac is a Mac of the made-up cluster.
func mac(n byte, name, model, chip string, memory, used int64, gpu, watts float64) app.Node {
	return app.Node{
		NodeView: api.NodeView{Node: id(n), ShortName: name, Self: n == 1, Liveness: api.LivenessAlive, Since: ago(time.Hour),
			Paths: []api.PathView{{Kind: api.LinkTB5, State: api.PathActive}}},
		Identity: &api.Identity{Name: name, ShortName: name, ModelName: model, Chip: chip, OSName: "macOS", OSVersion: "26.2"},
		Memory:   &api.Memory{TotalBytes: new(memory << 30), UsedBytes: new(used << 30)},
		System:   &api.System{GPUUseRatio: new(gpu), SystemPowerWatts: new(watts), PowerSource: api.PowerMains},
	}
}

// cable is a Thunderbolt 5 cable between two of them.
func cable(a, b byte, verdict api.RDMAVerdict) api.Cable {
	end := func(n byte, port api.PortNumber, place string) api.CableEnd {
		return api.CableEnd{End: api.LinkEnd{Node: id(n), PortNumber: port}, Place: place}
	}
	ends := []api.CableEnd{end(a, api.PortNumber(b), "back left"), end(b, api.PortNumber(a), "back right")}
	if ends[1].End.Compare(ends[0].End) < 0 {
		ends[0], ends[1] = ends[1], ends[0]
	}
	style := api.LinkTB5
	if verdict == api.RDMAReady {
		style = api.LinkRDMA
	}
	return api.Cable{Link: api.LinkID{Low: ends[0].End, High: ends[1].End}, Ends: ends, Kind: api.LinkTB5, Style: style, Verdict: api.VerdictGood,
		ForwardBitsPerS: new(int64(80e9)), BackwardBitsPerS: new(int64(80e9)), RDMA: verdict}
}

// working is a cluster of four that runs a job, with one bad cable.
func working() app.State {
	s := app.State{
		Now: now, Version: "1.0.0", Daemon: app.DaemonRunning, DaemonVersion: "1.0.0", Preferences: preferences(),
		Nodes: []app.Node{
			mac(1, "studio-1", "Mac Studio", "Apple M3 Ultra", 512, 388, 0.98, 187), mac(2, "studio-2", "Mac Studio", "Apple M3 Ultra", 512, 391, 0.97, 184),
			mac(3, "studio-3", "Mac Studio", "Apple M3 Ultra", 512, 41, 0.02, 31), mac(4, "mbp", "MacBook Pro", "Apple M5 Max", 128, 31, 0.01, 9),
		},
		Totals: api.Totals{Nodes: 4, Members: 4, FP16TFLOPS: new(104.2), MemoryTotalBytes: new(int64(1664 << 30)),
			MemoryUsedBytes: new(int64(851 << 30)), PowerWatts: new(411.0), PowerNodes: 4, MeasuredNodes: 4},
		Sharing: &api.Sharing{Jobs: api.JobsNobody, OnlyOnPower: true},
		Jobs: []api.JobSummary{{Job: "j4k2m9xq7", Name: "train.py", Principal: api.Principal{User: "ada", Node: id(1)}, Mine: true, Phase: api.JobRunning,
			Nodes: []api.NodeID{id(1), id(2)}, Ranks: 2, Attempt: 1, SubmittedAt: ago(134 * time.Minute)}},
		Cables: []api.Cable{cable(1, 2, api.RDMAReady), cable(1, 3, api.RDMACanEnable), cable(2, 3, api.RDMAReady), cable(1, 4, api.RDMANeedsPerson), cable(3, 4, api.RDMACannot)},
	}
	s.Nodes[3].System.BatteryRatio = new(0.92)
	bad := &s.Cables[4]
	bad.Verdict, bad.ForwardBitsPerS, bad.BackwardBitsPerS = api.VerdictSlow, new(int64(40e9)), new(int64(40e9))
	s.Conditions = []api.NodeCondition{{Node: id(3), Condition: api.Condition{Code: api.ReasonLinkBelowPorts, Severity: api.SeverityWarning, Subject: bad.Link.String(),
		Text: "studio-3 ↔ mbp: 40 Gb/s, should be 80", Remedy: "Swap the cable with its neighbour: if the trouble moves along, it is the cable.", Since: ago(time.Minute)}}}
	s.RDMA = []api.RDMAReadiness{{Link: s.Cables[3].Link, Verdict: api.RDMANeedsPerson, Checks: []api.RDMACheck{
		{Check: api.CheckSwitch, Answer: api.AnswerNo, Text: "RDMA is switched off on mbp.", Remedy: "One trip to Recovery: see Steps at mbp."}}}}
	s.UserActions = []api.RDMAUserAction{{Node: id(4), EstimateS: 240}}
	for _, c := range []api.Cable{s.Cables[0], s.Cables[2]} {
		s.Changes = append(s.Changes, api.NodeRDMAChange{Node: c.Link.Low.Node, RDMAChange: api.RDMAChange{Link: c.Link, State: api.RDMAChangeActive}})
	}
	return s
}

// asked is the cluster while another Mac asks to join it.
func asked() app.State {
	s := working()
	s.Jobs, s.Conditions, s.Cables = nil, nil, s.Cables[:3]
	s.Pending = []api.Pending{{Peer: id(9), Name: "Ada's Mac mini", ModelName: "Mac mini", Interface: "Thunderbolt", State: api.PendingAsking, Since: ago(time.Minute)}}
	return s
}
