package api

// Reasons: membership, pairing and the paths between nodes.
const (
	// ReasonWrongCode: the code is wrong.
	ReasonWrongCode Reason = "wrong_code"
	// ReasonCodeExpired: the code is no longer valid.
	ReasonCodeExpired Reason = "code_expired"
	// ReasonCodeUsedUp: too many wrong codes were tried.
	ReasonCodeUsedUp Reason = "code_used_up"
	// ReasonPairingNotOpen: the other Mac is not waiting for a new one.
	ReasonPairingNotOpen Reason = "pairing_not_open"
	// ReasonPairingBusy: another Mac is being added.
	ReasonPairingBusy Reason = "pairing_busy"
	// ReasonConfirmationFailed: the two Macs could not confirm each other: somebody may be in between.
	ReasonConfirmationFailed Reason = "confirmation_failed"
	// ReasonInviteUsed: the invitation was used already.
	ReasonInviteUsed Reason = "invite_used"
	// ReasonInviteExpired: the invitation has expired.
	ReasonInviteExpired Reason = "invite_expired"
	// ReasonAlreadyMember: the Mac is a member already.
	ReasonAlreadyMember Reason = "already_member"
	// ReasonMemberOfAnotherCluster: the Mac belongs to another cluster.
	ReasonMemberOfAnotherCluster Reason = "member_of_another_cluster"
	// ReasonRemoved: the Mac was removed from the cluster.
	ReasonRemoved Reason = "removed"
	// ReasonKeyOnOtherHardware: the identity was made on another machine and was set aside.
	ReasonKeyOnOtherHardware Reason = "key_on_other_hardware"
	// ReasonDuplicateIdentity: two machines answer with the same identity.
	ReasonDuplicateIdentity Reason = "duplicate_identity"
	// ReasonNeverHeardOf: the node has not been heard from since this daemon started.
	ReasonNeverHeardOf Reason = "never_heard_of"
	// ReasonUnreachable: the node does not answer on any path.
	ReasonUnreachable Reason = "unreachable"
	// ReasonSuspect: the node has just stopped answering.
	ReasonSuspect Reason = "suspect"
	// ReasonAsleep: the Mac is asleep.
	ReasonAsleep Reason = "asleep"
	// ReasonRestarting: the Mac is restarting and may be waiting at FileVault.
	ReasonRestarting Reason = "restarting"
	// ReasonShuttingDown: the Mac said that it is shutting down.
	ReasonShuttingDown Reason = "shutting_down"
	// ReasonLeft: the Mac left the cluster.
	ReasonLeft Reason = "left"
	// ReasonLidClosed: the Mac sleeps because its lid was closed.
	ReasonLidClosed Reason = "lid_closed"
	// ReasonNoPath: no verified path leads to the node.
	ReasonNoPath Reason = "no_path"
	// ReasonWrongIdentity: another node answers at this address.
	ReasonWrongIdentity Reason = "wrong_identity"
	// ReasonNetworkIsolatesClients: this network does not let Macs see each other.
	ReasonNetworkIsolatesClients Reason = "network_isolates_clients"
	// ReasonLocalNetworkDenied: macOS does not let Fulmen use the local network.
	ReasonLocalNetworkDenied Reason = "local_network_denied"
	// ReasonProtocolTooOld: the other side speaks an older protocol than this version can.
	ReasonProtocolTooOld Reason = "protocol_too_old"
	// ReasonProtocolTooNew: the other side speaks a newer protocol than this version can.
	ReasonProtocolTooNew Reason = "protocol_too_new"
	// ReasonVersionSkew: the nodes run different versions of Fulmen.
	ReasonVersionSkew Reason = "version_skew"
	// ReasonClockSkew: the clocks of two nodes differ by more than a minute.
	ReasonClockSkew Reason = "clock_skew"
	// ReasonClockFarOff: the clocks of two nodes differ by so much that one starts no
	// jobs of the other.
	ReasonClockFarOff Reason = "clock_far_off"
	// ReasonRosterConflict: the rosters of two nodes contradict each other.
	ReasonRosterConflict Reason = "roster_conflict"
	// ReasonNameTaken: another node has this name.
	ReasonNameTaken Reason = "name_taken"
	// ReasonTooManyDocuments: a member has more documents than are kept of one.
	ReasonTooManyDocuments Reason = "too_many_documents"
	// ReasonTooManyConnections: a member has as many connections as one can have.
	ReasonTooManyConnections Reason = "too_many_connections"
	// ReasonTooManyCalls: a member makes more calls than one member's are answered.
	ReasonTooManyCalls Reason = "too_many_calls"
)

// clusterReasons are the rows about membership, pairing and the paths between nodes.
func clusterReasons() []ReasonInfo {
	return []ReasonInfo{
		{Reason: ReasonWrongCode, Code: CodeDenied,
			Text:   "The code is wrong.",
			Remedy: "Read the code on the other Mac again."},
		{Reason: ReasonCodeExpired, Code: CodePrecondition,
			Text:   "The code is no longer valid.",
			Remedy: "Open Add a Mac again for a new one."},
		{Reason: ReasonCodeUsedUp, Code: CodeExhausted,
			Text:   "Too many wrong codes were tried.",
			Remedy: "Open Add a Mac again for a new one."},
		{Reason: ReasonPairingNotOpen, Code: CodePrecondition,
			Text:   "The other Mac is not waiting for a new one.",
			Remedy: "Open Add a Mac there."},
		{Reason: ReasonPairingBusy, Code: CodeConflict,
			Text:   "Another Mac is being added.",
			Remedy: "Wait until it is done, or cancel it."},
		{Reason: ReasonConfirmationFailed, Code: CodeDenied,
			Text:   "The two Macs could not confirm each other: somebody may be in between.",
			Remedy: "Try again on a cable or a network you trust."},
		{Reason: ReasonInviteUsed, Code: CodeConflict,
			Text:   "The invitation was used already.",
			Remedy: "Make a new one with `fulmen invite`."},
		{Reason: ReasonInviteExpired, Code: CodePrecondition,
			Text:   "The invitation has expired.",
			Remedy: "Make a new one with `fulmen invite`."},
		{Reason: ReasonAlreadyMember, Code: CodeConflict,
			Text: "The Mac is a member already."},
		{Reason: ReasonMemberOfAnotherCluster, Code: CodeConflict, Severity: SeverityWarning,
			Text:   "The Mac belongs to another cluster.",
			Remedy: "Remove it from that one first."},
		{Reason: ReasonRemoved, Code: CodeDenied, Severity: SeverityWarning,
			Text:   "The Mac was removed from the cluster.",
			Remedy: "Pair it again to bring it back with a new key."},
		{Reason: ReasonKeyOnOtherHardware, Code: CodePrecondition, Severity: SeverityWarning,
			Text:   "The identity was made on another machine and was set aside.",
			Remedy: "Pair this Mac again."},
		{Reason: ReasonDuplicateIdentity, Code: CodeConflict, Severity: SeverityError,
			Text:   "Two machines answer with the same identity.",
			Remedy: "Pair the one that was cloned again."},
		{Reason: ReasonNeverHeardOf, Code: CodeUnreachable,
			Text: "The node has not been heard from since this daemon started."},
		{Reason: ReasonUnreachable, Code: CodeUnreachable, Severity: SeverityWarning, Unknown: true,
			Text:   "The node does not answer on any path.",
			Remedy: "Check that it is on, awake and connected.", Command: "fulmen peers"},
		{Reason: ReasonSuspect, Code: CodeUnreachable,
			Text: "The node has just stopped answering.", Command: "fulmen peers"},
		{Reason: ReasonAsleep, Code: CodeUnreachable, Severity: SeverityInfo, Unknown: true,
			Text:   "The Mac is asleep.",
			Remedy: "Wake it, or let Fulmen keep it awake in Settings.", Command: "fulmen nodes"},
		{Reason: ReasonRestarting, Code: CodeUnreachable, Severity: SeverityInfo, Unknown: true,
			Text:   "The Mac is restarting and may be waiting at FileVault.",
			Remedy: "Enter the password there.", Command: "fulmen nodes"},
		{Reason: ReasonShuttingDown, Code: CodeUnreachable, Severity: SeverityInfo,
			Text: "The Mac said that it is shutting down."},
		{Reason: ReasonLeft, Code: CodeUnreachable, Severity: SeverityInfo,
			Text: "The Mac left the cluster."},
		{Reason: ReasonLidClosed, Code: CodeUnreachable, Severity: SeverityInfo,
			Text:   "The Mac sleeps because its lid was closed.",
			Remedy: "Open the lid, or connect power and a display."},
		{Reason: ReasonNoPath, Code: CodeUnreachable,
			Text:   "No verified path leads to the node.",
			Remedy: "Join the Macs by cable, or put them in one network.", Command: "fulmen peers"},
		{Reason: ReasonWrongIdentity, Code: CodeDenied, Severity: SeverityWarning,
			Text: "Another node answers at this address."},
		{Reason: ReasonNetworkIsolatesClients, Code: CodeUnreachable, Severity: SeverityWarning,
			Text:   "This network does not let Macs see each other.",
			Remedy: "Join by cable, or name the address of the other Mac.", Command: "fulmen peers"},
		{Reason: ReasonLocalNetworkDenied, Code: CodeDenied, Severity: SeverityError,
			Text:   "macOS does not let Fulmen use the local network.",
			Remedy: "Allow it in System Settings, Privacy & Security, Local Network."},
		{Reason: ReasonProtocolTooOld, Code: CodeUnsupported, Severity: SeverityWarning,
			Text:   "The other side speaks an older protocol than this version can.",
			Remedy: "Update Fulmen there."},
		{Reason: ReasonProtocolTooNew, Code: CodeUnsupported, Severity: SeverityWarning,
			Text:   "The other side speaks a newer protocol than this version can.",
			Remedy: "Update Fulmen here."},
		{Reason: ReasonVersionSkew, Severity: SeverityInfo,
			Text:   "The nodes run different versions of Fulmen.",
			Remedy: "Update the older ones."},
		{Reason: ReasonClockSkew, Severity: SeverityWarning,
			Text:   "The clocks of two nodes differ by more than a minute.",
			Remedy: "Set the time automatically in System Settings."},
		{Reason: ReasonClockFarOff, Severity: SeverityError,
			Text:   "The clocks of two Macs differ by more than ten minutes, so that the one that is behind starts no jobs of the other.",
			Remedy: "Set the time automatically on the Mac whose clock is wrong: System Settings, General, Date & Time."},
		{Reason: ReasonRosterConflict, Code: CodeConflict, Severity: SeverityError,
			Text:   "The rosters of two nodes contradict each other.",
			Remedy: "Remove and pair again the Mac that is named."},
		{Reason: ReasonNameTaken, Code: CodeConflict,
			Text: "Another node has this name."},
		{Reason: ReasonTooManyDocuments, Code: CodeExhausted, Severity: SeverityWarning,
			Text:   "A Mac has more documents than are kept of one.",
			Remedy: "Restart Fulmen on that Mac; if you do not trust it, `fulmen remove` it."},
		{Reason: ReasonTooManyConnections, Code: CodeExhausted,
			Text:   "The Mac has as many connections open as one can have.",
			Remedy: "Close some, or wait until they end."},
		{Reason: ReasonTooManyCalls, Code: CodeExhausted,
			Text:   "The Mac makes more calls than are answered for one.",
			Remedy: "Wait a moment and try again."},
	}
}
