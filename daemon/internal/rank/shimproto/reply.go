package shimproto

import "slices"

// Reply is what a shim says to a daemon: [Greeting], [Status], [Exit], [Refusal],
// or on the socket of the input [InputTaken].
type Reply interface {
	messageType() string
	check() error
}

// Greeting answers [Hello].
type Greeting struct {
	Re    uint64 `json:"re"`
	Epoch int64  `json:"epoch"` // the one that the shim holds now
	Ref
	// Speaks is the version that both sides use from here on.
	Speaks int `json:"speaks"`
	Versions
	PID   int   `json:"pid"` // of the shim
	Phase Phase `json:"phase"`
}

func (Greeting) messageType() string { return "hello" }

func (m Greeting) check() error {
	if err := firstError(checkRe(m.Re), checkEpoch(m.Epoch), m.Ref.Check(), m.Versions.Check(), checkPID(m.PID), m.Phase.Check()); err != nil {
		return err
	}
	if m.Speaks < m.Oldest || m.Speaks > m.Newest {
		return badField("speaks", "%d is outside %d to %d", m.Speaks, m.Oldest, m.Newest)
	}
	return nil
}

// Status is how the rank is.
type Status struct {
	// Re is the request that it answers; absent when nobody asked.
	Re    uint64 `json:"re,omitzero"`
	Epoch int64  `json:"epoch"`
	Phase Phase  `json:"phase"`
	// PID is the program's, which is also its process group; absent until it runs.
	PID int `json:"pid,omitzero"`
	// LeaseLeftS is how long the lease still runs.
	LeaseLeftS float64 `json:"lease_left_s"`
	// Cause is why it is ending, from then on.
	Cause *Cause `json:"cause,omitzero"`
	// Code and Signal are how the program ended, as in [ExitRecord], while what it
	// has left is being ended and written down.
	Code   *int   `json:"code,omitzero"`
	Signal string `json:"signal,omitzero"`
	// OutOfMemory is as in [ExitRecord].
	OutOfMemory bool `json:"out_of_memory,omitzero"`
	// Stopped is the signal that stopped the program, and GuardStopped that which stopped
	// the process that ends the rank where the shim is killed, while they do nothing.
	Stopped      string   `json:"stopped,omitzero"`
	GuardStopped string   `json:"guard_stopped,omitzero"`
	Logs         []LogEnd `json:"logs,omitzero"`
}

func (Status) messageType() string { return "status" }

func (m Status) check() error {
	if err := firstError(checkEpoch(m.Epoch), m.Phase.Check(), checkSeconds("lease_left_s", m.LeaseLeftS, maxLeaseS)); err != nil {
		return err
	}
	if m.PID < 0 || m.Phase == PhaseRunning && m.PID == 0 {
		return badField("pid", "%d is not a process", m.PID)
	}
	if m.Cause != nil {
		if err := m.Cause.Check(); err != nil {
			return within("cause", err)
		}
	}
	return firstError(checkSignal("stopped", m.Stopped), checkSignal("guard_stopped", m.GuardStopped), checkLogs(m.Logs))
}

// Exit says how the rank ended. The same record is in exit.json.
type Exit struct {
	Record ExitRecord `json:"record"`
}

func (Exit) messageType() string { return "exit" }

func (m Exit) check() error { return within("record", m.Record.Check()) }

// InputTaken says how much of the program's input, over all connections, has been
// handed to the program: the next byte has this number. It comes after the
// greeting on the socket of the input, and whenever it has grown.
type InputTaken struct {
	Bytes int64 `json:"bytes"`
}

func (InputTaken) messageType() string { return "input_taken" }

func (m InputTaken) check() error {
	if m.Bytes < 0 {
		return badField("bytes", "is negative")
	}
	return nil
}

// RefusalReason is why a shim will not do what it was asked.
type RefusalReason string

// The reasons. The keys are those of the API's errors where it has the same.
const (
	RefuseStaleEpoch RefusalReason = "stale_epoch"       // a newer home has spoken
	RefuseOtherRank  RefusalReason = "other_rank"        // this shim holds another rank
	RefuseNoHello    RefusalReason = "no_hello"          // the first message was no hello
	RefuseTooOld     RefusalReason = "protocol_too_old"  // the daemon's versions
	RefuseTooNew     RefusalReason = "protocol_too_new"  // the daemon's versions
	RefuseMalformed  RefusalReason = "malformed_message" // the message names the field
	RefuseUnknown    RefusalReason = "unknown_method"    // a type that this version has not
)

// Refusal answers what will not be done. Nothing was changed.
type Refusal struct {
	Re      uint64        `json:"re,omitzero"` // absent when the request had no readable number
	Epoch   int64         `json:"epoch"`       // the one that the shim holds
	Reason  RefusalReason `json:"reason"`
	Message string        `json:"message"` // one sentence for a person
}

func (Refusal) messageType() string { return "refused" }

func (m Refusal) check() error {
	// The reason may be one that only a later shim knows; its sentence counts.
	if err := (Cause{Reason: string(m.Reason), Message: m.Message}).Check(); err != nil {
		return err
	}
	return checkEpoch(m.Epoch)
}

// Error makes a refusal an error that a daemon can return as it is.
func (m Refusal) Error() string { return "the shim refused: " + m.Message }

func checkRe(re uint64) error {
	if re == 0 {
		return badField("re", "must be the number of a request")
	}
	return nil
}

// Phase is how far a rank is, as its shim sees it. The words are those of the
// rank's document.
type Phase string

// The phases of a shim.
const (
	PhaseStarting Phase = "starting" // the program does not run yet
	PhaseRunning  Phase = "running"
	PhaseEnding   Phase = "ending" // signalled, and its group is not empty yet
	PhaseExited   Phase = "exited" // exit.json is written
)

// Check returns a [FieldError] for a word that is none of the phases.
func (p Phase) Check() error {
	if !slices.Contains([]Phase{PhaseStarting, PhaseRunning, PhaseEnding, PhaseExited}, p) {
		return badField("phase", "%.40q is not a phase of a shim", string(p))
	}
	return nil
}
