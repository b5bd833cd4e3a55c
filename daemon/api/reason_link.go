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

// Reasons: RDMA over Thunderbolt.
const (
	// ReasonRDMASwitchOff: RDMA is switched off on the Mac.
	ReasonRDMASwitchOff Reason = "rdma_switch_off"
	// ReasonRDMANoDevice: RDMA is on, but the Mac shows no device for the port.
	ReasonRDMANoDevice Reason = "rdma_no_device"
	// ReasonRDMANotOffered: the Mac at the other end does not offer RDMA.
	ReasonRDMANotOffered Reason = "rdma_not_offered"
	// ReasonRDMAOneSided: RDMA is ready on one side of the cable only.
	ReasonRDMAOneSided Reason = "rdma_one_sided"
	// ReasonRDMAPortDown: the RDMA port is not active.
	ReasonRDMAPortDown Reason = "rdma_port_down"
	// ReasonRDMAPortSuspect: a program that held the RDMA device was killed; the device may be stuck.
	ReasonRDMAPortSuspect Reason = "rdma_port_suspect"
	// ReasonRDMANoIPv4GID: the RDMA port has no GID made from an IPv4 address.
	ReasonRDMANoIPv4GID Reason = "rdma_no_ipv4_gid"
	// ReasonRDMABuildsDiffer: the Macs run different builds of macOS.
	ReasonRDMABuildsDiffer Reason = "rdma_builds_differ"
	// ReasonRDMABesideEthernet: the receptacle is the one beside Ethernet, where RDMA is reported to fail.
	ReasonRDMABesideEthernet Reason = "rdma_beside_ethernet"
	// ReasonRDMANotReady: RDMA is not ready on a cable that the job needs.
	ReasonRDMANotReady Reason = "rdma_not_ready"
	// ReasonRDMAProbeFailed: the test over RDMA failed although the port is active.
	ReasonRDMAProbeFailed Reason = "rdma_probe_failed"
	// ReasonRDMAProbesSpent: many RDMA tests ran since the Mac started, and each may leave something behind in the driver.
	ReasonRDMAProbesSpent Reason = "rdma_probes_spent"
	// ReasonRDMAChangesRefused: the Mac at the other end does not allow RDMA changes from here.
	ReasonRDMAChangesRefused Reason = "rdma_changes_refused"
	// ReasonRDMAChangeRunning: another change of the cable is under way.
	ReasonRDMAChangeRunning Reason = "rdma_change_running"
	// ReasonRDMAChangeFailed: the change failed and was rolled back.
	ReasonRDMAChangeFailed Reason = "rdma_change_failed"
	// ReasonRDMAUndoPartial: not everything could be put back: somebody changed it since.
	ReasonRDMAUndoPartial Reason = "rdma_undo_partial"
	// ReasonRDMANothingToUndo: nothing was changed on this cable.
	ReasonRDMANothingToUndo Reason = "rdma_nothing_to_undo"
	// ReasonRDMABridgeCallsMissing: this macOS lacks the calls to change the bridge safely.
	ReasonRDMABridgeCallsMissing Reason = "rdma_bridge_calls_missing"
	// ReasonRDMAServiceInWay: the interface has a network service already that Fulmen did not make.
	ReasonRDMAServiceInWay Reason = "rdma_service_in_way"
	// ReasonRDMANoFreeNetwork: no free /30 of 169.254 is left on both Macs.
	ReasonRDMANoFreeNetwork Reason = "rdma_no_free_network"
	// ReasonRDMADeviceBusy: the RDMA device is in use.
	ReasonRDMADeviceBusy Reason = "rdma_device_busy"
	// ReasonRDMADeviceTooSmall: the RDMA device cannot have as much at once as the job needs.
	ReasonRDMADeviceTooSmall Reason = "rdma_device_too_small"
	// ReasonJACCLMissing: this build of MLX has no JACCL.
	ReasonJACCLMissing Reason = "jaccl_missing"
)

// rdmaReasons are the rows about RDMA over Thunderbolt.
func rdmaReasons() []ReasonInfo {
	return []ReasonInfo{
		{Reason: ReasonRDMASwitchOff, Code: CodePrecondition, Severity: SeverityWarning,
			Text:   "RDMA is switched off on the Mac.",
			Remedy: "Switch it on: `fulmen rdma check` has the steps for its macOS.", Command: "fulmen rdma check"},
		{Reason: ReasonRDMANoDevice, Code: CodePrecondition, Severity: SeverityWarning, Unknown: true,
			Text:   "RDMA is on, but the Mac shows no device for the port.",
			Remedy: "Restart the Mac.", Command: "fulmen rdma check"},
		{Reason: ReasonRDMANotOffered, Code: CodePrecondition,
			Text:   "The Mac at the other end does not offer RDMA.",
			Remedy: "Switch RDMA on there.", Command: "fulmen rdma check"},
		{Reason: ReasonRDMAOneSided, Code: CodePrecondition, Severity: SeverityWarning,
			Text:   "RDMA is ready on one side of the cable only.",
			Remedy: "The check names what is missing on the other side.", Command: "fulmen rdma check"},
		{Reason: ReasonRDMAPortDown, Code: CodePrecondition, Severity: SeverityWarning,
			Text:   "The RDMA port is not active.",
			Remedy: "Replug the cable.", Command: "fulmen rdma check"},
		{Reason: ReasonRDMAPortSuspect, Code: CodePrecondition, Severity: SeverityWarning,
			Text:   "A program that held the RDMA device was killed; the device may be stuck.",
			Remedy: "Replug the cable; if that does not help, restart the Mac. If you know that it works, say so there with `fulmen rdma clear`.", Command: "fulmen rdma check"},
		{Reason: ReasonRDMANoIPv4GID, Code: CodePrecondition, Severity: SeverityWarning,
			Text:   "The RDMA port has no GID made from an IPv4 address.",
			Remedy: "Enable RDMA on the cable, which gives it an address.", Command: "fulmen rdma check"},
		{Reason: ReasonRDMABuildsDiffer, Severity: SeverityWarning,
			Text:   "The Macs run different builds of macOS.",
			Remedy: "Update both to the same build.", Command: "fulmen rdma check"},
		{Reason: ReasonRDMABesideEthernet, Severity: SeverityWarning,
			Text:   "The receptacle is the one beside Ethernet, where RDMA is reported to fail.",
			Remedy: "Use another receptacle.", Command: "fulmen rdma check"},
		{Reason: ReasonRDMANotReady, Code: CodePrecondition,
			Text:   "RDMA is not ready on a cable that the job needs.",
			Remedy: "`fulmen rdma check` names what is missing.", Command: "fulmen rdma check"},
		{Reason: ReasonRDMAProbeFailed, Code: CodeUnreachable, Severity: SeverityWarning,
			Text:   "The test over RDMA failed although the port is active.",
			Remedy: "Replug the cable; if that does not help, restart the Mac.", Command: "fulmen rdma check"},
		{Reason: ReasonRDMAProbesSpent, Severity: SeverityInfo,
			Text:   "Many RDMA tests ran since the Mac started, and each may leave something behind in the driver.",
			Remedy: "Restart the Mac when convenient."},
		{Reason: ReasonRDMAChangesRefused, Code: CodeDenied,
			Text:   "The Mac at the other end does not allow RDMA changes from here.",
			Remedy: "Allow them there in Settings, Sharing."},
		{Reason: ReasonRDMAChangeRunning, Code: CodeConflict,
			Text:   "Another change of the cable is under way.",
			Remedy: "Wait until it is done."},
		{Reason: ReasonRDMAChangeFailed, Code: CodeConflict, Severity: SeverityError,
			Text:   "The change failed and was rolled back.",
			Remedy: "The causes name the step."},
		{Reason: ReasonRDMAUndoPartial, Code: CodeConflict, Severity: SeverityWarning,
			Text:   "Not everything could be put back: somebody changed it since.",
			Remedy: "The causes name each setting."},
		{Reason: ReasonRDMANothingToUndo, Code: CodeNotFound,
			Text: "Nothing was changed on this cable."},
		{Reason: ReasonRDMABridgeCallsMissing, Code: CodeUnsupported,
			Text:   "This macOS lacks the calls to change the bridge safely.",
			Remedy: "Set Thunderbolt Bridge inactive in System Settings, Network."},
		{Reason: ReasonRDMAServiceInWay, Code: CodePrecondition,
			Text:   "The interface has a network service already that Fulmen did not make.",
			Remedy: "Remove that service in System Settings, Network, and try again."},
		{Reason: ReasonRDMANoFreeNetwork, Code: CodeExhausted,
			Text: "No free /30 of 169.254 is left on both Macs."},
		{Reason: ReasonRDMADeviceBusy, Code: CodeConflict,
			Text:   "The RDMA device is in use.",
			Remedy: "Wait for the job that holds it.", Command: "fulmen jobs"},
		{Reason: ReasonRDMADeviceTooSmall, Code: CodeExhausted,
			Text:   "The RDMA device cannot have as many queue pairs, protection domains or memory regions as the job needs.",
			Remedy: "Run fewer ranks behind one hub, plug a cable of its own between the Macs, or use --backend ring."},
		{Reason: ReasonJACCLMissing, Code: CodeUnsupported, Unknown: true,
			Text:   "This build of MLX has no JACCL.",
			Remedy: "Run jobs with --backend ring, or install an MLX with JACCL there; its packages for Linux have none.", Command: "fulmen env"},
	}
}
