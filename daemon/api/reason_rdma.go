package api

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
