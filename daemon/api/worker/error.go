package worker

// Reason is the stable key of a worker's error. The daemon turns it into the
// error or health condition of the same reason.
type Reason string

// The reasons for which a worker ends without a result.
const (
	// ReasonUsage: the command line is wrong; the message names the flag.
	ReasonUsage Reason = "usage"
	// ReasonNoDevice: MLX finds no device of the kind asked for.
	ReasonNoDevice Reason = "no_device"
	// ReasonOutOfMemory: the device's memory does not hold what was asked.
	ReasonOutOfMemory Reason = "out_of_memory"
	// ReasonBackendUnavailable: this build of MLX lacks the backend.
	ReasonBackendUnavailable Reason = "backend_unavailable"
	// ReasonGroupInit: the group could not be formed; the message is MLX's.
	ReasonGroupInit Reason = "group_init_failed"
	// ReasonGroupTooSmall: the command needs more ranks than there are.
	ReasonGroupTooSmall Reason = "group_too_small"
	// ReasonWrongResult: a collective gave other values than it must.
	ReasonWrongResult Reason = "wrong_result"
	// ReasonMLX: MLX reported an error; the message is MLX's own.
	ReasonMLX Reason = "mlx_failed"
	// ReasonCancelled: SIGTERM or SIGINT came, or the input ended.
	ReasonCancelled Reason = "cancelled"
	// ReasonDeadline: the worker's own deadline passed; Stage says in what.
	ReasonDeadline Reason = "deadline"
)

// Error is why a worker ends without a result.
type Error struct {
	Reason Reason `json:"reason"`
	// Message is for a person.
	Message string `json:"message"`
	// Remedy is what the person can do, where there is something.
	Remedy string `json:"remedy,omitempty"`
	// Stage is what the worker did when it failed, where that is known.
	Stage string `json:"stage,omitempty"`
}

// Error gives the message, with the remedy where there is one.
func (e *Error) Error() string {
	if e.Remedy == "" {
		return e.Message
	}
	return e.Message + ": " + e.Remedy
}

// ExitStatus is the status with which a worker ends that could say why: 2
// for a wrong command line, 1 for everything else.
func (e *Error) ExitStatus() int {
	if e.Reason == ReasonUsage {
		return 2
	}
	return 1
}
