package app

import (
	"fmt"
	"strings"
	"time"

	"fulmen/daemon/api"
)

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) api.Time { return api.TimeOf(now.Add(-d)) }

func some[T any](v T) *T { return &v }

// id is a node id that is the same in every run.
func id(n int) api.NodeID { return api.NodeIDFromKey([]byte{byte(n)}) }

// mac is a Mac that answers, with everything known.
func mac(n int, name string) Node {
	return Node{
		NodeView: api.NodeView{Node: id(n), ShortName: name, Self: n == 1, Liveness: api.LivenessAlive, Since: ago(time.Hour),
			Paths: []api.PathView{{Kind: api.LinkTB5, State: api.PathActive}}},
		Identity: &api.Identity{Name: name, ShortName: name, ModelName: "Mac Studio", Chip: "Apple M3 Ultra", OSName: "macOS", OSVersion: "26.2"},
		Memory:   &api.Memory{TotalBytes: some(int64(512 << 30)), UsedBytes: some(int64(204 << 30))},
		System:   &api.System{GPUUseRatio: some(0.98), SystemPowerWatts: some(187.2), GPUTemperatureCelsius: some(71.4), PowerSource: api.PowerMains},
		GPU:      &api.GPUProfile{FP16TFLOPS: some(26.3), MemoryBytesPerS: some(int64(778e9))},
	}
}

func laptop(n int, name string) Node {
	m := mac(n, name)
	m.Identity.ModelName, m.Identity.Chip = "MacBook Pro", "Apple M5 Max"
	m.System = &api.System{GPUUseRatio: some(0.02), PackagePowerWatts: some(9.0), BatteryRatio: some(0.8), PowerSource: api.PowerMains}
	m.Memory = &api.Memory{TotalBytes: some(int64(128 << 30)), UsedBytes: some(int64(31 << 30))}
	return m
}

// cable is a good Thunderbolt 5 cable between two Macs.
func cable(a, b int, verdict api.RDMAVerdict) api.Cable {
	end := func(n, port int, place string) api.CableEnd {
		return api.CableEnd{End: api.LinkEnd{Node: id(n), PortNumber: api.PortNumber(port)}, Place: place}
	}
	ends := []api.CableEnd{end(a, 1, "back, left"), end(b, 2, "left side, rear")}
	if ends[1].End.Compare(ends[0].End) < 0 {
		ends[0], ends[1] = ends[1], ends[0]
	}
	c := api.Cable{Link: api.LinkID{Low: ends[0].End, High: ends[1].End}, Ends: ends, Kind: api.LinkTB5, Style: api.LinkTB5, Verdict: api.VerdictGood,
		ForwardBitsPerS: some(int64(80e9)), BackwardBitsPerS: some(int64(80e9)), RDMA: verdict}
	if verdict == api.RDMAReady {
		c.Style, c.LinkNumbers = api.LinkRDMA, api.LinkNumbers{MeasuredForwardBitsPerS: some(int64(74.8e9)), MeasuredBackwardBitsPerS: some(int64(74.1e9)), RTTUS: some(18.0)}
	}
	return c
}

// change is what a Mac changed at its end of the cable to another.
func change(n, other int, state api.RDMAChangeState) api.NodeRDMAChange {
	return api.NodeRDMAChange{Node: id(n), RDMAChange: api.RDMAChange{Link: cable(min(n, other), max(n, other), "").Link, State: state, Since: ago(time.Minute)}}
}

func condition(n int, code api.Reason, severity api.Severity, text, remedy string) api.NodeCondition {
	info, _ := api.LookupReason(code)
	return api.NodeCondition{Node: id(n), Brief: info.Brief, Condition: api.Condition{Code: code, Severity: severity, Text: text, Remedy: remedy, Since: ago(time.Minute)}}
}

func job(n int, name string, phase api.JobPhase) api.JobSummary {
	return api.JobSummary{Job: api.JobID(fmt.Sprintf("j0000000%d", n)), Name: name, Principal: api.Principal{User: "ann", Node: id(1)}, Mine: true,
		Phase: phase, Nodes: []api.NodeID{id(1), id(2)}, Ranks: 2, Attempt: 1, SubmittedAt: ago(134 * time.Minute)}
}

// healthy is a cluster of three with everything in order.
func healthy() State {
	return State{
		Now: now, Version: "1.0.0", Daemon: DaemonRunning, DaemonVersion: "1.0.0",
		Nodes: []Node{laptop(3, "mbp"), mac(2, "studio-2"), mac(1, "studio-1")},
		Totals: api.Totals{Nodes: 3, Members: 3, FP16TFLOPS: some(96.2), MemoryTotalBytes: some(int64(1152 << 30)),
			MemoryUsedBytes: some(int64(439 << 30)), PowerWatts: some(383.4), PowerNodes: 3, MeasuredNodes: 3},
		Cables:      []api.Cable{cable(1, 2, api.RDMAReady), cable(1, 3, api.RDMACanEnable)},
		Changes:     []api.NodeRDMAChange{change(1, 2, api.RDMAChangeActive), change(2, 1, api.RDMAChangeActive)},
		Sharing:     &api.Sharing{Jobs: api.JobsNobody, RDMAChanges: api.ChangesNobody},
		Preferences: Preferences{LaunchAtLogin: true, Notifications: true, Title: TitleNothing},
	}
}

// state is healthy, changed.
func state(change func(*State)) State {
	s := healthy()
	change(&s)
	return s
}

// alone is a Mac without others.
func alone(s *State) {
	s.Nodes, s.Cables = []Node{mac(1, "studio-1")}, nil
	s.Totals = api.Totals{Nodes: 1, Members: 1, FP16TFLOPS: some(26.3), MemoryTotalBytes: some(int64(512 << 30)), MemoryUsedBytes: some(int64(204 << 30))}
}

// states are what a person may find in the menu bar, by name.
func states() map[string]State {
	all := map[string]State{
		"system_too_old":       state(func(s *State) { s.Setup = SetupSystemTooOld }),
		"outside_applications": state(func(s *State) { s.Setup = SetupOutsideApplications }),
		"not_registered":       state(func(s *State) { s.Setup = SetupNotRegistered }),
		"approval_needed":      state(func(s *State) { s.Setup = SetupNeedsApproval }),
		"approval_withdrawn":   state(func(s *State) { s.Setup = SetupWithdrawn }),
		"belongs_to_person":    state(func(s *State) { s.Setup = SetupPersons }),
		"belongs_and_older":    state(func(s *State) { s.Setup, s.DaemonVersion = SetupPersons, "0.9.0" }),
		"belongs_and_stopped":  state(func(s *State) { s.Setup, s.Daemon = SetupPersons, DaemonStopped }),
		"connecting":           state(func(s *State) { s.Daemon = DaemonConnecting }),
		"daemon_starting":      state(func(s *State) { s.Daemon = DaemonStarting }),
		"daemon_stopped":       state(func(s *State) { s.Daemon = DaemonStopped }),
		"daemon_gone":          state(func(s *State) { s.Daemon = DaemonGone }),
		"daemon_older":         state(func(s *State) { s.DaemonVersion = "0.9.0" }),
		"daemon_newer":         state(func(s *State) { s.DaemonVersion = "1.1.0" }),
		"alone":                state(alone),
		"alone_nothing_known": state(func(s *State) {
			alone(s)
			s.Totals = api.Totals{Nodes: 1, Members: 1}
			s.Nodes = []Node{{NodeView: api.NodeView{Node: id(1), Self: true, Liveness: api.LivenessAlive}}}
			s.Sharing = nil
		}),
		"healthy":   healthy(),
		"title_gpu": state(func(s *State) { s.Preferences.Title = TitleGPU }),
		"title_watts": state(func(s *State) {
			s.Preferences.Title = TitlePower
			s.Preferences.LaunchAtLogin, s.Preferences.Notifications = false, false
		}),
		"title_memory": state(func(s *State) { s.Preferences.Title = TitleMemory }),
		"node_lost": state(func(s *State) {
			s.Nodes[1].Liveness, s.Nodes[1].Since, s.Nodes[1].Message = api.LivenessUnreachable, ago(3*time.Minute), "No path answers."
			s.Totals.Nodes = 2
			s.Cables[0].Stale = true
			s.Conditions = []api.NodeCondition{condition(1, api.ReasonUnreachable, api.SeverityError, "studio-2 is not reached on any path.", "Check its cable and that it is on.")}
		}),
		"memories": state(func(s *State) {
			s.Totals.OtherMemory = []api.OtherMemory{{TotalBytes: 16 << 30, Nodes: 1}, {GPUMemory: api.GPUMemoryDedicated, TotalBytes: 24 << 30, Nodes: 1}, {GPUMemory: api.GPUMemoryNone, TotalBytes: 192 << 30, Nodes: 2}}
			s.Nodes[0].Identity.GPUMemory, s.Nodes[0].Memory.GPUWorkingSetBytes, s.Nodes[0].System = api.GPUMemoryDedicated, some(int64(24<<30)), nil
			s.Nodes[1].Identity.GPUMemory = api.GPUMemoryNone
			s.Nodes[2].Identity.GPUMemory = api.GPUMemoryUnified
		}),
		"node_asleep": state(func(s *State) {
			s.Nodes[0].Liveness, s.Nodes[1].Liveness = api.LivenessAsleep, api.LivenessRestarting
		}),
		"on_battery_hot": state(func(s *State) {
			s.Nodes[0].System.PowerSource, s.Nodes[0].System.BatteryRatio = api.PowerBattery, some(0.12)
			s.Conditions = []api.NodeCondition{
				condition(3, api.ReasonBatteryLow, api.SeverityWarning, "The Mac runs on its battery, which is almost empty: mbp.", "Connect it to power."),
				condition(2, api.ReasonThermalCritical, api.SeverityError, "The Mac is dangerously hot and slows down a lot: studio-2.", "Let it cool."),
			}
		}),
		"pairing_request": state(func(s *State) {
			s.Pending = []api.Pending{
				{Peer: id(9), Name: "Bob's \x1b[31mMac\u202e", ModelName: "Mac mini", Interface: "en5", State: api.PendingAsking, Since: ago(time.Minute)},
				{Peer: id(8), Name: "Air", Interface: "en0", State: api.PendingIgnored, Since: ago(time.Hour)},
				{Peer: id(7), Name: "Mini", Interface: "en0", State: api.PendingProving, Since: ago(time.Second)},
			}
		}),
		"code_shown": state(func(s *State) {
			s.Code = &api.ClusterPairResult{Code: "4K7M-9XQ2", ExpiresAt: api.TimeOf(now.Add(4 * time.Minute)), TriesLeft: 3}
		}),
		"job_running": state(func(s *State) {
			theirs := job(2, "eval.py", api.JobRunning)
			theirs.Mine, theirs.Principal.User, theirs.Nodes = false, "bob", []api.NodeID{id(3)}
			s.Jobs = []api.JobSummary{theirs, job(1, "train.py", api.JobRunning)}
			s.Nodes[2].System.GPUUseRatio = some(1.0)
		}),
		"models_copied": state(func(s *State) {
			waits := job(1, "Qwen3-32B-4bit", api.JobRunning)
			waits.Reason, waits.Message = api.ReasonNotReady, "Rank 0 has not been ready yet."
			serves := job(2, "Qwen3-8B-4bit", api.JobRunning)
			serves.Serves, serves.ReadyAt = "mlx-community/Qwen3-8B-4bit", ago(time.Minute)
			s.Jobs = []api.JobSummary{waits, serves}
			s.Copies = []api.ModelCopying{
				{ModelSelect: api.ModelSelect{Model: "mlx-community/Qwen3-32B-4bit"}, From: id(2), Progress: api.ModelProgress{DoneBytes: 43, TotalBytes: 100}},
				{ModelSelect: api.ModelSelect{Model: "org/second"}},
			}
		}),
		"job_stalled": state(func(s *State) {
			j := job(1, "train.py", api.JobRunning)
			j.Reason, j.Message = api.ReasonStalled, "The job is stalled: rank 1 on studio-2 does nothing."
			s.Jobs = []api.JobSummary{j}
		}),
		"job_handshake": state(func(s *State) {
			j := job(1, "train.py", api.JobHandshake)
			j.Joined, j.Message = 1, "Waiting for rank 1 on studio-2 to join."
			s.Jobs = []api.JobSummary{j}
		}),
		"job_waits": state(func(s *State) {
			placing, backoff, lost := job(1, "train.py", api.JobPlacing), job(2, "chat.py", api.JobBackoff), job(3, "lora.py", api.JobHomeLost)
			placing.Nodes, placing.Message, placing.SubmittedAt = nil, "studio-2 is busy: eval.py runs there.", ago(12*time.Minute)
			s.Jobs = []api.JobSummary{placing, backoff, lost}
		}),
		"job_ended": state(func(s *State) {
			failed, done, old := job(1, "train.py", api.JobFailed), job(2, "chat.py", api.JobSucceeded), job(3, "old.py", api.JobFailed)
			failed.Message, failed.EndedAt, done.EndedAt, old.EndedAt = "Rank 1 on studio-2 was killed by signal 9.", ago(2*time.Minute), ago(20*time.Second), ago(time.Hour)
			s.Jobs = []api.JobSummary{old, failed, done}
		}),
		"rdma_all": state(func(s *State) {
			needs, cannot := cable(2, 3, api.RDMANeedsPerson), cable(1, 3, api.RDMACannot)
			cannot.Kind, cannot.Style, cannot.ForwardBitsPerS, cannot.BackwardBitsPerS = api.LinkTB4, api.LinkTB4, some(int64(40e9)), some(int64(40e9))
			cannot.Ends[0].End.PortNumber, cannot.Link.Low.PortNumber = 4, 4
			s.Cables = append(s.Cables, needs, cannot, cable(2, 4, api.RDMACanEnable))
			s.RDMA = []api.RDMAReadiness{{Link: needs.Link, Verdict: api.RDMANeedsPerson, Text: "mbp needs you once.", Checks: []api.RDMACheck{
				{Check: api.CheckPortTB5, Answer: api.AnswerYes, Text: "Both ports are Thunderbolt 5."},
				{Check: api.CheckSwitch, Answer: api.AnswerNo, Text: "RDMA is switched off on mbp.", Remedy: "Start mbp in Recovery and run: rdma_ctl enable"},
				{Check: api.CheckSameBuild, Answer: api.AnswerNo, Advice: true, Text: "The builds of macOS differ."},
			}}}
			s.UserActions = []api.RDMAUserAction{{Node: id(3), EstimateS: 240}}
		}),
		"rdma_by_hand":  state(func(s *State) { s.Changes = nil }),
		"rdma_enabling": state(func(s *State) { s.Changes = append(s.Changes, change(1, 3, api.RDMAChangeApplying)) }),
		"rdma_failed": state(func(s *State) {
			before, now := change(1, 3, api.RDMAChangeUndone), change(3, 1, api.RDMAChangePartial)
			before.Reason, before.Message, before.Since = api.ReasonRDMAChangeFailed, "An older failure.", ago(time.Hour)
			now.Reason, now.Message = api.ReasonRDMAUndoPartial, "The port did not become active within 60 s."
			s.Changes = append(s.Changes, before, now)
		}),
		"rdma_undoing": state(func(s *State) { s.Changes[1].State = api.RDMAChangeUndoing }),
		"peer_without_fulmen": state(func(s *State) {
			c := cable(1, 9, api.RDMAUnknown)
			c.Link, c.Ends, c.PeerName, c.Kind, c.Style, c.ForwardBitsPerS = api.LinkID{}, c.Ends[:1], "Carol's Mac", api.LinkUnknown, api.LinkUnknown, nil
			s.Cables = []api.Cable{c}
		}),
		"bad_cable": state(func(s *State) {
			c := &s.Cables[0]
			c.Verdict, c.ForwardBitsPerS, c.BackwardBitsPerS, c.RDMA = api.VerdictSlow, some(int64(40e9)), some(int64(40e9)), api.RDMACannot
			c.Style, c.LinkNumbers, c.Text = api.LinkTB4, api.LinkNumbers{}, "The cable runs slower than both its ports can."
			bad := condition(1, api.ReasonLinkBelowPorts, api.SeverityWarning, "studio-1 ↔ studio-2: 40 Gb/s, should be 80.", "Swap the cable with its neighbour: if the trouble moves along, it is the cable.")
			bad.Subject = c.Link.String()
			muted := condition(1, api.ReasonLinkFlapping, api.SeverityWarning, "A cable comes and goes.", "")
			muted.Muted = true
			s.Conditions = []api.NodeCondition{bad, muted}
		}),
		"bridge_loop": state(func(s *State) {
			loop := condition(2, api.ReasonBridgeLoop, api.SeverityError, "Three Thunderbolt cables form a loop through the bridges of studio-1, studio-2 and mbp.", "Enable RDMA on one of them, or unplug it.")
			loop.Action = &api.Action{Kind: api.ActionMethod, Label: "Enable RDMA", Target: "rdma.enable", Params: map[string]string{"all_ready": "true"}}
			s.Conditions = []api.NodeCondition{loop}
		}),
		"builds_differ": state(func(s *State) {
			s.Conditions = []api.NodeCondition{condition(3, api.ReasonRDMABuildsDiffer, api.SeverityWarning, "macOS differs: 25C56 here, 25D12 on the others.", "Update all Macs to the same version.")}
		}),
		"memory_low": state(func(s *State) {
			low := condition(1, api.ReasonMemoryPressure, api.SeverityWarning, "The Mac is short of memory.", "Quit something large.")
			s.Conditions = []api.NodeCondition{low}
			s.Nodes[2].Memory.UsedBytes = some(int64(508 << 30))
		}),
		"local_network_denied": state(func(s *State) {
			denied := condition(1, api.ReasonLocalNetworkDenied, api.SeverityError, "macOS keeps Fulmen from the local network.", "Allow Fulmen in System Settings.")
			denied.Action = &api.Action{Kind: api.ActionSettings, Label: "Open Local Network Settings", Target: "x-apple.systempreferences:com.apple.preference.security?Privacy_LocalNetwork"}
			s.Conditions = []api.NodeCondition{denied}
		}),
		"many_problems": state(func(s *State) {
			s.Conditions = []api.NodeCondition{condition(1, api.ReasonStateCorrupt, api.SeverityError, "The worst. "+strings.Repeat("long ", 40), "Do this.")}
			for i := range 7 {
				c := condition(1+i%3, api.ReasonConfigInvalid, api.SeverityWarning, fmt.Sprintf("Problem %d.", i), "")
				c.Subject = fmt.Sprint(i)
				s.Conditions = append(s.Conditions, c)
			}
			s.Conditions[1].Action = &api.Action{Kind: api.ActionCommand, Label: "Show the configuration", Target: "fulmen config"}
		}),
		"thunderbolt_4_only": state(func(s *State) {
			for i := range s.Cables {
				s.Cables[i].Kind, s.Cables[i].Style, s.Cables[i].RDMA = api.LinkTB4, api.LinkTB4, api.RDMACannot
				s.Cables[i].LinkNumbers = api.LinkNumbers{}
				s.Cables[i].ForwardBitsPerS, s.Cables[i].BackwardBitsPerS = some(int64(40e9)), some(int64(40e9))
			}
		}),
		"measuring": state(func(s *State) {
			s.Measuring = []api.Measurement{{State: api.MeasureWaiting, Items: []api.MeasureItem{{State: api.MeasureWaiting, WaitingFor: "train.py on studio-2"}}}}
		}),
		"sharing": state(func(s *State) {
			s.Sharing = &api.Sharing{Jobs: api.JobsMapped, OnlyOnPower: true, OnlyWhenIdle: true, KeepAwake: true}
		}),
		"simulated": state(func(s *State) {
			s.Simulated = true
			for i := range s.Nodes {
				s.Nodes[i].Simulated = true
			}
		}),
		"sixteen_macs": state(func(s *State) {
			s.Nodes = nil
			for i := 1; i <= 16; i++ {
				s.Nodes = append(s.Nodes, mac(i, fmt.Sprintf("studio-%02d", 17-i)))
			}
			s.Totals.Nodes, s.Totals.Members = 16, 16
		}),
	}
	for name, s := range all {
		switch s.Headline = headline(s.shown()); name {
		case "alone":
			s.Headline.Text = "Healthy: this Mac alone"
		case "alone_nothing_known":
			s.Headline = api.Headline{} // not asked for yet
		}
		all[name] = s
	}
	return all
}

// headline is the daemon's, of these problems.
func headline(problems []api.NodeCondition) api.Headline {
	if len(problems) == 0 {
		return api.Headline{Text: "Healthy: 3 Macs, 2 of 2 cables at full speed, RDMA ready on 1 of 2 cables"}
	}
	return api.Headline{Text: shorten(problems[0].Text, 120), Problems: len(problems), Worst: &problems[0]}
}
