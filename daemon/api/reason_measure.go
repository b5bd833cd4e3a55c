package api

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
