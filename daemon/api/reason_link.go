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
