package api

// Reasons: the life of a rank.
const (
	// ReasonNeverJoined: the rank ended without having joined the group.
	ReasonNeverJoined Reason = "never_joined"
	// ReasonHandshakeTimeout: not every rank joined in time.
	ReasonHandshakeTimeout Reason = "handshake_timeout"
	// ReasonPreparingTimeout: not every rank was prepared in time.
	ReasonPreparingTimeout Reason = "preparing_timeout"
	// ReasonStartingTimeout: the rank did not start in time.
	ReasonStartingTimeout Reason = "starting_timeout"
	// ReasonSilentTooLong: no rank printed anything for as long as the spec allows.
	ReasonSilentTooLong Reason = "silent_too_long"
	// ReasonRunTooLong: the job ran longer than the spec allows.
	ReasonRunTooLong Reason = "run_too_long"
	// ReasonRankFailed: a rank ended with an error.
	ReasonRankFailed Reason = "rank_failed"
	// ReasonRankKilled: a rank was ended by a signal.
	ReasonRankKilled Reason = "rank_killed"
	// ReasonRankCrashed: a rank crashed.
	ReasonRankCrashed Reason = "rank_crashed"
	// ReasonRankOutOfMemory: the system ended a rank for its use of memory.
	ReasonRankOutOfMemory Reason = "rank_out_of_memory"
	// ReasonRankLost: what became of the rank is not known.
	ReasonRankLost Reason = "rank_lost"
	// ReasonRankStopped: a signal stopped a rank, or what guards it; it goes on when another one continues it.
	ReasonRankStopped Reason = "rank_stopped"
	// ReasonShimSilent: the process that holds a rank does not answer.
	ReasonShimSilent Reason = "shim_silent"
	// ReasonLeaseExpired: the lease was not renewed in time.
	ReasonLeaseExpired Reason = "lease_expired"
	// ReasonNodeLost: a node of the job was lost.
	ReasonNodeLost Reason = "node_lost"
	// ReasonNodeAsleep: a node of the job went to sleep.
	ReasonNodeAsleep Reason = "node_asleep"
	// ReasonPeerRankFailed: the rank was ended because another one failed.
	ReasonPeerRankFailed Reason = "peer_rank_failed"
	// ReasonStrayConnection: something that is no rank of the job connected to its side channel.
	ReasonStrayConnection Reason = "stray_connection"
	// ReasonWrongRankNumber: the program reported another rank than it was given.
	ReasonWrongRankNumber Reason = "wrong_rank_number"
	// ReasonSideChannelLimit: the side channel carried more than an initialisation needs.
	ReasonSideChannelLimit Reason = "side_channel_limit"
	// ReasonSideChannelLost: the side channel of a rank broke before it had joined.
	ReasonSideChannelLost Reason = "side_channel_lost"
	// ReasonDaemonRestarted: the daemon of a rank's node ended and was started again while the rank needed it.
	ReasonDaemonRestarted Reason = "daemon_restarted"
	// ReasonPortTaken: the port is held by another program.
	ReasonPortTaken Reason = "port_taken"
	// ReasonSpawnFailed: the system could not start the program.
	ReasonSpawnFailed Reason = "spawn_failed"
	// ReasonSupervisorUnavailable: the system's supervisor does not answer.
	ReasonSupervisorUnavailable Reason = "supervisor_unavailable"
)

// rankReasons are the rows about the life of a rank.
func rankReasons() []ReasonInfo {
	return []ReasonInfo{
		{Reason: ReasonNeverJoined, Code: CodePrecondition,
			Text:   "The rank ended without having joined the group.",
			Remedy: "Its output is in the logs. Every rank has to call mx.distributed.init(); --allow-solo permits one that does not."},
		{Reason: ReasonHandshakeTimeout, Code: CodeDeadline,
			Text:   "Not every rank joined in time.",
			Remedy: "The message names who is missing."},
		{Reason: ReasonPreparingTimeout, Code: CodeDeadline,
			Text:   "Not every rank was prepared in time.",
			Remedy: "The message names the Macs. --deadline-preparing and times.preparing give more time."},
		{Reason: ReasonStartingTimeout, Code: CodeDeadline,
			Text: "The rank did not start in time."},
		{Reason: ReasonSilentTooLong, Code: CodeDeadline,
			Text: "No rank printed anything for as long as the spec allows."},
		{Reason: ReasonRunTooLong, Code: CodeDeadline,
			Text: "The job ran longer than the spec allows."},
		{Reason: ReasonRankFailed,
			Text:   "A rank ended with an error.",
			Remedy: "Its output is in the logs."},
		{Reason: ReasonRankKilled,
			Text: "A rank was ended by a signal."},
		{Reason: ReasonRankCrashed,
			Text:   "A rank crashed.",
			Remedy: "Its output is in the logs."},
		{Reason: ReasonRankOutOfMemory, Code: CodeExhausted,
			Text:   "The system ended a rank for its use of memory.",
			Remedy: "Ask for more memory a rank, or use more nodes."},
		{Reason: ReasonRankLost, Code: CodeUnreachable,
			Text: "What became of the rank is not known."},
		{Reason: ReasonRankStopped,
			Text:   "A signal stopped a rank.",
			Remedy: "Continue it (kill -CONT PID), or stop the job."},
		{Reason: ReasonShimSilent,
			Text:   "The process that holds a rank does not answer.",
			Remedy: "Continue it (kill -CONT PID) where a signal stopped it, or restart the Mac."},
		{Reason: ReasonLeaseExpired, Code: CodeDeadline,
			Text: "The lease was not renewed in time.", Command: "fulmen nodes"},
		{Reason: ReasonNodeLost, Code: CodeUnreachable,
			Text: "A node of the job was lost.", Command: "fulmen nodes"},
		{Reason: ReasonNodeAsleep, Code: CodeUnreachable,
			Text: "A node of the job went to sleep.", Command: "fulmen nodes"},
		{Reason: ReasonPeerRankFailed, Code: CodeCancelled,
			Text: "The rank was ended because another one failed."},
		{Reason: ReasonStrayConnection, Code: CodeDenied,
			Text:   "Something that is no rank of the job connected to its side channel.",
			Remedy: "Stop that program, or keep it from the ports 20000 to 32000 of 127.0.0.1."},
		{Reason: ReasonWrongRankNumber, Code: CodeInvalid,
			Text:   "The program reported another rank than it was given.",
			Remedy: "Do not change MLX_RANK in the program."},
		{Reason: ReasonSideChannelLimit, Code: CodeExhausted,
			Text: "The side channel carried more than an initialisation needs."},
		{Reason: ReasonSideChannelLost, Code: CodeUnreachable,
			Text: "The side channel of a rank broke before it had joined."},
		{Reason: ReasonDaemonRestarted, Code: CodeUnreachable,
			Text: "The daemon of a node of the job ended and was started again while a rank needed it.", Command: "fulmen logs"},
		{Reason: ReasonPortTaken, Code: CodeConflict,
			Text: "The port is held by another program."},
		{Reason: ReasonSpawnFailed, Code: CodeInternal,
			Text: "The system could not start the program."},
		{Reason: ReasonSupervisorUnavailable, Code: CodeUnsupported,
			Text: "The system's supervisor does not answer.", Command: "fulmen logs"},
	}
}
