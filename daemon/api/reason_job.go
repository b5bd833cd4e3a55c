package api

// Reasons: placing and keeping jobs.
const (
	// ReasonPrincipalUnmapped: the Mac does not say as which account this person's jobs run there.
	ReasonPrincipalUnmapped Reason = "principal_unmapped"
	// ReasonAccountForbidden: jobs never run as this account.
	ReasonAccountForbidden Reason = "account_forbidden"
	// ReasonJobsNotShared: the Mac does not accept jobs of others.
	ReasonJobsNotShared Reason = "jobs_not_shared"
	// ReasonOnBattery: the Mac accepts jobs on power only.
	ReasonOnBattery Reason = "on_battery"
	// ReasonNotIdle: the Mac accepts jobs only when nobody uses it.
	ReasonNotIdle Reason = "not_idle"
	// ReasonSpecAltered: the job's spec does not fit its signature.
	ReasonSpecAltered Reason = "spec_altered"
	// ReasonSpecConflict: the spec asks for things that exclude each other.
	ReasonSpecConflict Reason = "spec_conflict"
	// ReasonTooManyRanks: the backend cannot have that many ranks.
	ReasonTooManyRanks Reason = "too_many_ranks"
	// ReasonNotEnoughNodes: there are not enough nodes that qualify.
	ReasonNotEnoughNodes Reason = "not_enough_nodes"
	// ReasonNodeUnreachable: a node that the job needs does not answer.
	ReasonNodeUnreachable Reason = "node_unreachable"
	// ReasonNotEnoughMemory: the GPU's working set on the node is too small or taken.
	ReasonNotEnoughMemory Reason = "not_enough_memory"
	// ReasonGPUBusy: another job holds the GPU.
	ReasonGPUBusy Reason = "gpu_busy"
	// ReasonWaitingInLine: jobs that want the same were submitted before.
	ReasonWaitingInLine Reason = "waiting_in_line"
	// ReasonGPUUsedByOtherProgram: another program uses the GPU.
	ReasonGPUUsedByOtherProgram Reason = "gpu_used_by_other_program"
	// ReasonNoBackend: no backend can join these nodes.
	ReasonNoBackend Reason = "no_backend"
	// ReasonUnencrypted: the ranks talk over a network without encryption.
	ReasonUnencrypted Reason = "unencrypted"
	// ReasonBackendUnsupported: MLX on a node does not have the backend.
	ReasonBackendUnsupported Reason = "backend_unsupported"
	// ReasonBackendNotUsed: a backend that auto takes first is not possible here.
	ReasonBackendNotUsed Reason = "backend_not_used"
	// ReasonMLXVersionsDiffer: the nodes have different versions of MLX.
	ReasonMLXVersionsDiffer Reason = "mlx_versions_differ"
	// ReasonProgramMLXMissing: the program's Python finds no MLX.
	ReasonProgramMLXMissing Reason = "program_mlx_missing"
	// ReasonMLXTooOld: this MLX computes jaccl-ring's all_gather wrongly.
	ReasonMLXTooOld Reason = "mlx_too_old"
	// ReasonPythonVersionsDiffer: the nodes have different versions of Python.
	ReasonPythonVersionsDiffer Reason = "python_versions_differ"
	// ReasonPackageVersionsDiffer: the nodes have different versions of a package.
	ReasonPackageVersionsDiffer Reason = "package_versions_differ"
	// ReasonInterpreterMissing: the interpreter is not on the node.
	ReasonInterpreterMissing Reason = "interpreter_missing"
	// ReasonProgramMissing: the program is not on the node.
	ReasonProgramMissing Reason = "program_missing"
	// ReasonProgramNotExecutable: the program cannot be executed on the node.
	ReasonProgramNotExecutable Reason = "program_not_executable"
	// ReasonDirectoryMissing: the directory is not on the node.
	ReasonDirectoryMissing Reason = "directory_missing"
	// ReasonMacOSPrivacy: macOS does not let the program read the folder.
	ReasonMacOSPrivacy Reason = "macos_privacy"
	// ReasonDiskFull: the disk is full.
	ReasonDiskFull Reason = "disk_full"
	// ReasonSyncTooLarge: the folder is larger than --sync copies.
	ReasonSyncTooLarge Reason = "sync_too_large"
	// ReasonSyncLeavesFolder: a link in the folder points outside.
	ReasonSyncLeavesFolder Reason = "sync_leaves_folder"
	// ReasonSyncFailed: the folder could not be copied.
	ReasonSyncFailed Reason = "sync_failed"
	// ReasonPrepareFailed: the preparation command failed on a node.
	ReasonPrepareFailed Reason = "prepare_failed"
	// ReasonGrantRefused: a node did not grant what the plan needs.
	ReasonGrantRefused Reason = "grant_refused"
	// ReasonStaleEpoch: the job has a newer home; this one stopped acting.
	ReasonStaleEpoch Reason = "stale_epoch"
	// ReasonHomeNotProven: a node acts for a job, and its proof that it may does not count.
	ReasonHomeNotProven Reason = "home_not_proven"
	// ReasonSpecExpired: nothing is started by the job's spec any more.
	ReasonSpecExpired Reason = "spec_expired"
	// ReasonHomeLost: the node that keeps the job is gone and no majority can take over.
	ReasonHomeLost Reason = "home_lost"
	// ReasonNoMajority: less than half of the cluster is in sight.
	ReasonNoMajority Reason = "no_majority"
	// ReasonHomeForgot: the node that keeps the job lost its database.
	ReasonHomeForgot Reason = "home_forgot"
	// ReasonHomeRestarted: the daemon of the node that keeps the job ended without a word while ranks were started.
	ReasonHomeRestarted Reason = "home_restarted"
	// ReasonTakenOver: another node took the job over.
	ReasonTakenOver Reason = "taken_over"
	// ReasonWaitingForRanks: the end of an earlier attempt's ranks is not known yet.
	ReasonWaitingForRanks Reason = "waiting_for_ranks"
	// ReasonRetriesSpent: all attempts failed.
	ReasonRetriesSpent Reason = "retries_spent"
	// ReasonStoppedByPerson: a person stopped the job.
	ReasonStoppedByPerson Reason = "stopped_by_person"
	// ReasonClientGone: the terminal that the job was attached to was closed.
	ReasonClientGone Reason = "client_gone"
	// ReasonJobEnded: the job has ended.
	ReasonJobEnded Reason = "job_ended"
	// ReasonJobRunning: the job has not ended.
	ReasonJobRunning Reason = "job_running"
	// ReasonJobDeleted: the job was deleted.
	ReasonJobDeleted Reason = "job_deleted"
	// ReasonVariablesLost: the values of the job's environment variables are not in memory any more.
	ReasonVariablesLost Reason = "variables_lost"
	// ReasonHomeInSight: the node that keeps the job answers, so that nobody takes the job over.
	ReasonHomeInSight Reason = "home_in_sight"
	// ReasonOutputWaits: the node of a rank does not answer; its output comes when it does.
	ReasonOutputWaits Reason = "output_waits"
	// ReasonOutputUnreachable: the rest of a rank's output is on a node that does not answer.
	ReasonOutputUnreachable Reason = "output_unreachable"
	// ReasonOutputLost: the disk did not take all that a rank printed.
	ReasonOutputLost Reason = "output_lost"
	// ReasonInputLost: a rank needs input that is not kept any more.
	ReasonInputLost Reason = "input_lost"
	// ReasonInputElsewhere: another client gives the job's input now.
	ReasonInputElsewhere Reason = "input_elsewhere"
)

// jobReasons are the rows about placing and keeping jobs.
func jobReasons() []ReasonInfo {
	return []ReasonInfo{
		{Reason: ReasonPrincipalUnmapped, Code: CodeDenied,
			Text:   "The Mac does not say as which account this person's jobs run there.",
			Remedy: "Map the person there with `fulmen users`.", Command: "fulmen users"},
		{Reason: ReasonAccountForbidden, Code: CodeDenied,
			Text:   "Jobs never run as this account.",
			Remedy: "Map the person to an account other than root.", Command: "fulmen users"},
		{Reason: ReasonJobsNotShared, Code: CodeDenied,
			Text:   "The Mac does not accept jobs of others.",
			Remedy: "Change it there in Settings, Sharing.", Command: "fulmen sharing"},
		{Reason: ReasonOnBattery, Code: CodePrecondition,
			Text:   "The Mac accepts jobs on power only.",
			Remedy: "Connect power.", Command: "fulmen sharing"},
		{Reason: ReasonNotIdle, Code: CodePrecondition,
			Text: "The Mac accepts jobs only when nobody uses it.", Command: "fulmen sharing"},
		{Reason: ReasonSpecAltered, Code: CodeDenied,
			Text:   "The job's spec does not fit its signature.",
			Remedy: "Submit it again."},
		{Reason: ReasonSpecConflict, Code: CodeInvalid,
			Text: "The spec asks for things that exclude each other."},
		{Reason: ReasonTooManyRanks, Code: CodeInvalid,
			Text:   "The backend cannot have that many ranks.",
			Remedy: "JACCL's mesh ends at 8 ranks; use jaccl-ring or ring."},
		{Reason: ReasonNotEnoughNodes, Code: CodePrecondition,
			Text: "There are not enough nodes that qualify.", Command: "fulmen nodes"},
		{Reason: ReasonNodeUnreachable, Code: CodeUnreachable,
			Text:   "A node that the job needs does not answer.",
			Remedy: "Check that it is on, awake and connected.", Command: "fulmen peers"},
		{Reason: ReasonNotEnoughMemory, Code: CodeExhausted,
			Text:   "The GPU's working set on the node is too small or taken.",
			Remedy: "Ask for less memory a rank, or wait.", Command: "fulmen nodes"},
		{Reason: ReasonGPUBusy, Code: CodeConflict,
			Text: "Another job holds the GPU.", Command: "fulmen jobs"},
		{Reason: ReasonWaitingInLine,
			Text: "Jobs that want the same were submitted before it.", Command: "fulmen jobs"},
		{Reason: ReasonGPUUsedByOtherProgram, Code: CodeConflict,
			Text:   "Another program uses the GPU.",
			Remedy: "Quit it, or wait: after times.gpu_wait the job starts beside it."},
		{Reason: ReasonNoBackend, Code: CodePrecondition,
			Text:   "No backend can join these nodes.",
			Remedy: "The causes name what is missing for each."},
		{Reason: ReasonUnencrypted,
			Text:   "The ranks talk over a network without encryption.",
			Remedy: "Join the Macs with Thunderbolt cables, or use the network only if you trust everybody on it."},
		{Reason: ReasonBackendUnsupported, Code: CodeUnsupported,
			Text: "MLX on a node does not have the backend.", Command: "fulmen env"},
		{Reason: ReasonBackendNotUsed,
			Text: "A backend that auto takes first is not possible here."},
		{Reason: ReasonMLXVersionsDiffer, Code: CodePrecondition,
			Text:   "The nodes have different versions of MLX.",
			Remedy: "Install the same version, or pass --allow-mixed.", Command: "fulmen env"},
		{Reason: ReasonProgramMLXMissing, Code: CodePrecondition,
			Text:   "The program's Python finds no MLX.",
			Remedy: "Install it there (pip install mlx; on Linux mlx[cpu]), or name an environment that has it with --venv.", Command: "fulmen env"},
		{Reason: ReasonMLXTooOld, Code: CodeUnsupported,
			Text:   "This MLX computes jaccl-ring's all_gather wrongly.",
			Remedy: "Update MLX to 0.32.4 or later.", Command: "fulmen env"},
		{Reason: ReasonPythonVersionsDiffer, Code: CodePrecondition,
			Text:   "The nodes have different versions of Python.",
			Remedy: "Install the same version, or pass --allow-mixed.", Command: "fulmen env"},
		{Reason: ReasonPackageVersionsDiffer, Code: CodePrecondition,
			Text:   "The nodes have different versions of a package.",
			Remedy: "Install the same version, or pass --allow-mixed.", Command: "fulmen env"},
		{Reason: ReasonInterpreterMissing, Code: CodeNotFound,
			Text:   "The interpreter is not on the node.",
			Remedy: "Install it there, or name another with --python.", Command: "fulmen env"},
		{Reason: ReasonProgramMissing, Code: CodeNotFound,
			Text:   "The program is not on the node.",
			Remedy: "Copy it there, or pass --sync."},
		{Reason: ReasonProgramNotExecutable, Code: CodeDenied,
			Text: "The program cannot be executed on the node."},
		{Reason: ReasonDirectoryMissing, Code: CodeNotFound,
			Text:   "The directory is not on the node.",
			Remedy: "Copy it there, or pass --sync."},
		{Reason: ReasonMacOSPrivacy, Code: CodeDenied,
			Text:   "macOS does not let the program read the folder.",
			Remedy: "Allow it in System Settings, Privacy & Security, Files & Folders, or use another folder."},
		{Reason: ReasonDiskFull, Code: CodeExhausted, Severity: SeverityError,
			Text:   "The disk is full.",
			Remedy: "Free some space.", Command: "fulmen status"},
		{Reason: ReasonSyncTooLarge, Code: CodeExhausted,
			Text:   "The folder is larger than --sync copies.",
			Remedy: "Exclude what is not needed in .gitignore."},
		{Reason: ReasonSyncLeavesFolder, Code: CodeInvalid,
			Text:   "A link in the folder points outside.",
			Remedy: "Replace the link by what it points to."},
		{Reason: ReasonSyncFailed, Code: CodePrecondition,
			Text: "The folder could not be copied to the node."},
		{Reason: ReasonPrepareFailed, Code: CodePrecondition,
			Text:   "The preparation command failed on a node.",
			Remedy: "Try the command there, as the account that the job runs as."},
		{Reason: ReasonGrantRefused, Code: CodeConflict,
			Text: "A node did not grant what the plan needs."},
		{Reason: ReasonStaleEpoch, Code: CodeConflict,
			Text: "The job has a newer home; this one stopped acting."},
		{Reason: ReasonHomeNotProven, Code: CodeDenied,
			Text:   "A node acts for a job, and its proof that it may does not count.",
			Remedy: "Where a person took the job over, run `fulmen job take-over` on this Mac too."},
		{Reason: ReasonSpecExpired, Code: CodePrecondition,
			Text:   "The job was submitted more than 30 days ago, or by a Mac whose clock is wrong.",
			Remedy: "Set the clocks, and submit it again."},
		{Reason: ReasonHomeLost, Code: CodeUnreachable, Severity: SeverityWarning,
			Text:   "The node that keeps the job is gone and no majority can take over.",
			Remedy: "Wait for it, or run `fulmen job take-over`.", Command: "fulmen nodes"},
		{Reason: ReasonNoMajority, Code: CodePrecondition,
			Text:   "Less than half of the cluster is in sight.",
			Remedy: "Wait, or let a person take over.", Command: "fulmen nodes"},
		{Reason: ReasonHomeForgot, Code: CodeUnreachable,
			Text:   "The Mac that keeps the job lost its database.",
			Remedy: "Run it again."},
		{Reason: ReasonHomeRestarted, Code: CodeUnreachable,
			Text: "The daemon that keeps the job was started again while it started ranks."},
		{Reason: ReasonTakenOver, Code: CodeConflict,
			Text: "Another node took the job over."},
		{Reason: ReasonWaitingForRanks, Code: CodeDeadline,
			Text: "The end of an earlier attempt's ranks is not known yet."},
		{Reason: ReasonRetriesSpent, Code: CodeExhausted,
			Text:   "All attempts failed.",
			Remedy: "The causes give each attempt's reason."},
		{Reason: ReasonStoppedByPerson, Code: CodeCancelled,
			Text: "A person stopped the job."},
		{Reason: ReasonClientGone, Code: CodeCancelled,
			Text:   "The terminal that the job was attached to was closed.",
			Remedy: "Use --detach for jobs that go on."},
		{Reason: ReasonJobEnded, Code: CodeConflict,
			Text: "The job has ended."},
		{Reason: ReasonJobRunning, Code: CodeConflict,
			Text:   "The job has not ended.",
			Remedy: "Stop it first."},
		{Reason: ReasonJobDeleted, Code: CodeNotFound,
			Text: "The job was deleted."},
		{Reason: ReasonVariablesLost, Code: CodePrecondition,
			Text:   "The values of the job's environment variables are kept in memory only, and the daemon that had them was restarted.",
			Remedy: "Run `fulmen job retry` where the job was submitted, or submit it again."},
		{Reason: ReasonHomeInSight, Code: CodeConflict,
			Text:   "The node that keeps the job answers.",
			Remedy: "Stop the job, or wait."},
		{Reason: ReasonOutputWaits, Code: CodeUnreachable,
			Text: "The node of a rank does not answer; its output comes when it does."},
		{Reason: ReasonOutputUnreachable, Code: CodeUnreachable,
			Text:   "The rest of a rank's output is on a node that does not answer.",
			Remedy: "Ask again with `fulmen job logs` when the node is back."},
		{Reason: ReasonOutputLost, Code: CodeExhausted, Severity: SeverityWarning,
			Text:   "The disk did not take all that a rank printed.",
			Remedy: "Free some space on that Mac, and run the job again.", Command: "fulmen status"},
		{Reason: ReasonInputLost, Code: CodePrecondition,
			Text:   "A rank needs input that is not kept any more.",
			Remedy: "Stop the job, and give the input as a file."},
		{Reason: ReasonInputElsewhere, Code: CodeConflict,
			Text: "Another client gives the job's input now."},
	}
}

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
