package api

// Reasons: cables, ports and networks.
const (
	// ReasonLinkTooSlow: the cable negotiated 40 Gb/s or less; RDMA needs more.
	ReasonLinkTooSlow Reason = "link_too_slow"
	// ReasonLinkBelowPorts: the cable negotiated less than both ports can.
	ReasonLinkBelowPorts Reason = "link_below_ports"
	// ReasonLinkBelowHistory: the link is slower than its own history.
	ReasonLinkBelowHistory Reason = "link_below_history"
	// ReasonLinkFlapping: the link keeps going up and down.
	ReasonLinkFlapping Reason = "link_flapping"
	// ReasonLinkDown: the link is down.
	ReasonLinkDown Reason = "link_down"
	// ReasonLinkGone: the cable was pulled.
	ReasonLinkGone Reason = "link_gone"
	// ReasonLinkChanged: the cable was moved or negotiated anew.
	ReasonLinkChanged Reason = "link_changed"
	// ReasonNotThunderbolt5: the port or the cable is not Thunderbolt 5.
	ReasonNotThunderbolt5 Reason = "not_thunderbolt_5"
	// ReasonHubBetween: a hub on the way is the slowest part.
	ReasonHubBetween Reason = "hub_between"
	// ReasonPeerUnknown: the Mac at the other end does not run Fulmen.
	ReasonPeerUnknown Reason = "peer_unknown"
	// ReasonBridgeLoop: bridged Thunderbolt cables form a loop, which floods the network.
	ReasonBridgeLoop Reason = "bridge_loop"
	// ReasonInBridge: the interface belongs to a bridge.
	ReasonInBridge Reason = "in_bridge"
	// ReasonAddressLost: the interface lost its address.
	ReasonAddressLost Reason = "address_lost"
	// ReasonNoAddress: the interface has no address.
	ReasonNoAddress Reason = "no_address"
	// ReasonNetworkLost: the Mac lost its network.
	ReasonNetworkLost Reason = "network_lost"
	// ReasonNetworkNotTrusted: the network is neither Thunderbolt, named in the request, nor trusted.
	ReasonNetworkNotTrusted Reason = "network_not_trusted"
	// ReasonLinkBusy: the link is being changed or measured.
	ReasonLinkBusy Reason = "link_busy"
)

// linkReasons are the rows about cables, ports and networks.
func linkReasons() []ReasonInfo {
	return []ReasonInfo{
		{Reason: ReasonLinkTooSlow, Code: CodePrecondition, Severity: SeverityWarning,
			Text:   "The cable negotiated 40 Gb/s or less; RDMA needs more.",
			Remedy: "Use a Thunderbolt 5 cable in Thunderbolt 5 ports.", Command: "fulmen topology"},
		{Reason: ReasonLinkBelowPorts, Severity: SeverityWarning,
			Text:   "The cable negotiated less than both ports can.",
			Remedy: "Reseat it. If that does not help, swap it with the cable in the next port: if the slow speed moves with it, replace the cable; if it stays, it is the port.", Command: "fulmen topology"},
		{Reason: ReasonLinkBelowHistory, Severity: SeverityWarning,
			Text:   "The link is slower than its own history.",
			Remedy: "Swap the cable with the one in the next port: if the slow speed moves with it, replace the cable; if it stays, it is the port.", Command: "fulmen links history"},
		{Reason: ReasonLinkFlapping, Severity: SeverityWarning,
			Text:   "The link keeps going up and down.",
			Remedy: "Reseat the cable, or replace it.", Command: "fulmen topology"},
		{Reason: ReasonLinkDown, Code: CodeUnreachable, Severity: SeverityWarning, Unknown: true,
			Text:   "The link is down.",
			Remedy: "Check both ends of the cable.", Command: "fulmen topology"},
		{Reason: ReasonLinkGone, Code: CodeNotFound,
			Text:   "The cable was pulled.",
			Remedy: "Plug it in again.", Command: "fulmen topology"},
		{Reason: ReasonLinkChanged, Code: CodeConflict,
			Text: "The cable was moved or negotiated anew.", Command: "fulmen topology"},
		{Reason: ReasonNotThunderbolt5, Code: CodeUnsupported,
			Text:   "The port or the cable is not Thunderbolt 5.",
			Remedy: "Use Thunderbolt 5 ports and a Thunderbolt 5 cable.", Command: "fulmen topology"},
		{Reason: ReasonHubBetween, Code: CodePrecondition,
			Text:   "A hub on the way is the slowest part.",
			Remedy: "Join the two Macs directly.", Command: "fulmen topology"},
		{Reason: ReasonPeerUnknown, Code: CodeNotFound, Severity: SeverityInfo,
			Text:   "The Mac at the other end does not run Fulmen.",
			Remedy: "Install Fulmen there and pair it.", Command: "fulmen topology"},
		{Reason: ReasonBridgeLoop, Code: CodePrecondition, Severity: SeverityError,
			Text:   "Bridged Thunderbolt cables form a loop, which floods the network.",
			Remedy: "Take one Mac out of the Thunderbolt Bridge.", Command: "fulmen topology"},
		{Reason: ReasonInBridge, Code: CodePrecondition,
			Text:   "The interface belongs to a bridge.",
			Remedy: "Enable RDMA on the cable to take it out, or set Thunderbolt Bridge inactive.", Command: "fulmen rdma check"},
		{Reason: ReasonAddressLost, Code: CodeUnreachable, Severity: SeverityWarning, Unknown: true,
			Text: "The interface lost its address.", Command: "fulmen rdma check"},
		{Reason: ReasonNoAddress, Code: CodePrecondition, Unknown: true,
			Text: "The interface has no address.", Command: "fulmen rdma check"},
		{Reason: ReasonNetworkLost, Code: CodeUnreachable, Severity: SeverityWarning,
			Text:   "The Mac lost its network.",
			Remedy: "Check its network cable or Wi-Fi, then the router or switch.", Command: "fulmen peers"},
		{Reason: ReasonNetworkNotTrusted, Code: CodeDenied,
			Text:   "The network is neither Thunderbolt, named in the request, nor trusted.",
			Remedy: "Name it with --network, or trust it in the configuration."},
		{Reason: ReasonLinkBusy, Code: CodeConflict,
			Text:   "The link is being changed or measured.",
			Remedy: "Repeat it when that is done."},
	}
}

// Reasons: measuring.
const (
	// ReasonMeasurementRunning: a measurement runs on the node.
	ReasonMeasurementRunning Reason = "measurement_running"
	// ReasonJobHasNode: a job runs on the node.
	ReasonJobHasNode Reason = "job_has_node"
	// ReasonMemoryPressure: the Mac is short of memory.
	ReasonMemoryPressure Reason = "memory_pressure"
	// ReasonThermalPressure: the Mac is too hot and slows down.
	ReasonThermalPressure Reason = "thermal_pressure"
	// ReasonLowPowerMode: low Power Mode is on.
	ReasonLowPowerMode Reason = "low_power_mode"
	// ReasonExpensiveNetwork: the network is a tunnel or costs money; it is measured on request only.
	ReasonExpensiveNetwork Reason = "expensive_network"
	// ReasonMeasuredOnRequest: paths over Wi-Fi are measured on request only.
	ReasonMeasuredOnRequest Reason = "measured_on_request"
	// ReasonMeasureBudgetSpent: the peer measured enough for now.
	ReasonMeasureBudgetSpent Reason = "measure_budget_spent"
	// ReasonPeerStalled: the peer stopped in the middle of the transfer.
	ReasonPeerStalled Reason = "peer_stalled"
	// ReasonPeerImplausible: the peer's numbers contradict each other.
	ReasonPeerImplausible Reason = "peer_implausible"
	// ReasonProbeTokenInvalid: the measurement was not announced.
	ReasonProbeTokenInvalid Reason = "probe_token_invalid"
	// ReasonWorkerCrashed: the measuring process crashed.
	ReasonWorkerCrashed Reason = "worker_crashed"
	// ReasonWorkerHung: the measuring process did not answer and was ended.
	ReasonWorkerHung Reason = "worker_hung"
	// ReasonWorkerOutOfMemory: the measuring process ran out of memory.
	ReasonWorkerOutOfMemory Reason = "worker_out_of_memory"
	// ReasonWorkerAborted: the measuring process gave up on an error that had nobody to go to.
	ReasonWorkerAborted Reason = "worker_aborted"
	// ReasonBLASSlow: matrix products on the CPU run with MLX's reference BLAS.
	ReasonBLASSlow Reason = "blas_slow"
	// ReasonGPUUnavailable: MLX finds no GPU to measure.
	ReasonGPUUnavailable Reason = "gpu_unavailable"
	// ReasonResultUnstable: the results differ too much from each other.
	ReasonResultUnstable Reason = "result_unstable"
)

// measureReasons are the rows about measuring.
func measureReasons() []ReasonInfo {
	return []ReasonInfo{
		{Reason: ReasonMeasurementRunning, Code: CodeConflict,
			Text: "A measurement runs on the node."},
		{Reason: ReasonJobHasNode, Code: CodeConflict,
			Text: "A job runs on the node."},
		{Reason: ReasonMemoryPressure, Code: CodePrecondition, Severity: SeverityWarning,
			Text:   "The Mac is short of memory.",
			Remedy: "Quit something large."},
		{Reason: ReasonThermalPressure, Code: CodePrecondition, Severity: SeverityWarning,
			Text:   "The Mac is too hot and slows down.",
			Remedy: "Let it cool; check its vents."},
		{Reason: ReasonLowPowerMode, Code: CodePrecondition, Severity: SeverityInfo,
			Text: "Low Power Mode is on."},
		{Reason: ReasonExpensiveNetwork, Code: CodePrecondition,
			Text: "The network is a tunnel or costs money; it is measured on request only."},
		{Reason: ReasonMeasuredOnRequest, Unknown: true,
			Text:   "The path is measured on request only, since others share the network.",
			Remedy: "Measure it with `fulmen measure link`."},
		{Reason: ReasonMeasureBudgetSpent, Code: CodeExhausted,
			Text: "The peer measured enough for now."},
		{Reason: ReasonPeerStalled, Code: CodeDeadline,
			Text: "The peer stopped in the middle of the transfer."},
		{Reason: ReasonPeerImplausible, Code: CodeInvalid, Severity: SeverityWarning,
			Text: "The peer's numbers contradict each other."},
		{Reason: ReasonProbeTokenInvalid, Code: CodeDenied,
			Text: "The measurement was not announced."},
		{Reason: ReasonWorkerCrashed, Code: CodeInternal, Severity: SeverityWarning,
			Text:   "The measuring process crashed.",
			Remedy: "Its last words are in the report."},
		{Reason: ReasonWorkerHung, Code: CodeDeadline, Severity: SeverityWarning,
			Text: "The measuring process did not answer and was ended."},
		{Reason: ReasonWorkerOutOfMemory, Code: CodeExhausted, Severity: SeverityWarning,
			Text: "The measuring process ran out of memory."},
		{Reason: ReasonWorkerAborted, Code: CodeInternal, Severity: SeverityWarning,
			Text: "The measuring process gave up on an error inside MLX."},
		{Reason: ReasonBLASSlow, Severity: SeverityWarning,
			Text:   "MLX computes on the processor with the slow reference BLAS, up to 30 times slower than OpenBLAS.",
			Remedy: "Install OpenBLAS (on Debian and Ubuntu: apt install libopenblas0-pthread), then measure again."},
		{Reason: ReasonGPUUnavailable, Code: CodeUnsupported, Unknown: true,
			Text: "MLX finds no GPU to measure."},
		{Reason: ReasonResultUnstable, Severity: SeverityInfo,
			Text:   "The results differ too much from each other.",
			Remedy: "Measure again when the Mac is idle."},
	}
}
