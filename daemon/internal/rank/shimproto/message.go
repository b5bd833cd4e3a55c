package shimproto

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
)

// MaxLine is the longest line, its end not counted, that either side accepts.
const MaxLine = 64 << 10

// message is a request or a reply.
type message interface {
	messageType() string
	check() error
}

// Encode writes a message as one line, without its end. A message that its
// reader would refuse is an error here already.
func Encode(m message) ([]byte, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	line, err := encodeObject(m.messageType(), m)
	if err != nil {
		return nil, err
	}
	if len(line) > MaxLine {
		return nil, ErrTooLong
	}
	return line, nil
}

// DecodeRequest reads what a daemon says. Errors are [FieldError],
// [UnknownTypeError] or [ErrTooLong].
func DecodeRequest(line []byte) (Request, error) {
	kind, err := messageKind(line)
	if err != nil {
		return nil, err
	}
	switch kind {
	case Hello{}.messageType():
		return decodeAs[Hello](line)
	case Renew{}.messageType():
		return decodeAs[Renew](line)
	case Stop{}.messageType():
		return decodeAs[Stop](line)
	case Resize{}.messageType():
		return decodeAs[Resize](line)
	case Query{}.messageType():
		return decodeAs[Query](line)
	case Probe{}.messageType():
		return decodeAs[Probe](line)
	}
	return nil, &UnknownTypeError{Type: kind}
}

// DecodeReply reads what a shim says. Errors are as of [DecodeRequest].
func DecodeReply(line []byte) (Reply, error) {
	kind, err := messageKind(line)
	if err != nil {
		return nil, err
	}
	switch kind {
	case Greeting{}.messageType():
		return decodeAs[Greeting](line)
	case Status{}.messageType():
		return decodeAs[Status](line)
	case Exit{}.messageType():
		return decodeAs[Exit](line)
	case Probed{}.messageType():
		return decodeAs[Probed](line)
	case InputTaken{}.messageType():
		return decodeAs[InputTaken](line)
	case Refusal{}.messageType():
		return decodeAs[Refusal](line)
	}
	return nil, &UnknownTypeError{Type: kind}
}

// messageKind reads the type of a line.
func messageKind(line []byte) (string, error) {
	if len(line) > MaxLine {
		return "", ErrTooLong
	}
	var typed struct {
		Type string `json:"t"`
	}
	err := decodeObject(line, &typed)
	return typed.Type, err
}

func decodeAs[M message](line []byte) (m M, err error) {
	if err := decodeObject(line, &m); err != nil {
		return m, err
	}
	return m, m.check()
}

// RequestID returns the number of a request that does not read otherwise, so
// that it can be refused by name, or 0.
func RequestID(line []byte) uint64 {
	var numbered struct {
		ID uint64 `json:"id"`
	}
	if json.Unmarshal(line, &numbered) != nil {
		return 0
	}
	return numbered.ID
}

// Request is what a daemon says to a shim: [Hello], [Renew], [Stop], [Resize],
// [Query] or [Probe].
type Request interface {
	message
	// Header returns the request's number and the epoch it acts for.
	Header() RequestHeader
}

// RequestHeader is common to all requests.
type RequestHeader struct {
	// ID numbers the requests of a connection, from 1; the answer repeats it.
	ID uint64 `json:"id"`
	// Epoch is that of the job's home that the daemon acts for.
	Epoch int64 `json:"epoch"`
}

// Header returns itself.
func (h RequestHeader) Header() RequestHeader { return h }

func (h RequestHeader) check() error {
	if h.ID < 1 || h.ID > maxEpoch {
		return badField("id", "%d is outside 1 to 2^53-1", h.ID)
	}
	return checkEpoch(h.Epoch)
}

// Hello attaches to a rank. It is the first message of a connection; the shim
// answers with a [Greeting], and with an [Exit] after it when the rank has ended.
type Hello struct {
	RequestHeader
	Ref
	Versions
	// PID of the daemon, for the shim's log.
	PID int `json:"pid"`
}

func (Hello) messageType() string { return "hello" }

func (m Hello) check() error {
	return cmp.Or(m.RequestHeader.check(), m.Ref.Check(), m.Versions.Check(), checkPID(m.PID))
}

// Renew prolongs the lease: it now ends LeaseS seconds, sleep included, after
// the shim reads this.
type Renew struct {
	RequestHeader
	LeaseS float64 `json:"lease_s"`
}

func (Renew) messageType() string { return "renew" }

func (m Renew) check() error {
	return cmp.Or(m.RequestHeader.check(), checkSeconds("lease_s", m.LeaseS, maxLeaseS), positive("lease_s", m.LeaseS))
}

// Stop ends the group: SIGTERM now, SIGKILL when the grace is over. A second
// stop can only shorten the grace; the first one's cause stays.
type Stop struct {
	RequestHeader
	GraceS float64 `json:"grace_s"` // 0 is SIGKILL at once
	Cause  Cause   `json:"cause"`
}

func (Stop) messageType() string { return "stop" }

func (m Stop) check() error {
	return cmp.Or(m.RequestHeader.check(), checkSeconds("grace_s", m.GraceS, maxGraceS), within("cause", m.Cause.Check()))
}

// Resize gives the program's terminal another size; the program is told by
// SIGWINCH. Without a terminal nothing happens.
type Resize struct {
	RequestHeader
	Terminal
}

func (Resize) messageType() string { return "resize" }

func (m Resize) check() error { return cmp.Or(m.RequestHeader.check(), m.Terminal.Check()) }

// Query asks for a [Status].
type Query struct {
	RequestHeader
}

func (Query) messageType() string { return "status" }

func (m Query) check() error { return m.RequestHeader.check() }

// Limits of what a lease and a grace may be, against a slip of units.
const (
	maxLeaseS = 24 * 3600
	maxGraceS = 3600
)

// Cause is why a rank was ended or could not be started: a stable key, shared
// with the API's errors, and one sentence for a person.
type Cause struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Check returns a [FieldError] for a reason that is no key or a missing sentence.
func (c Cause) Check() error {
	if c.Reason == "" || len(c.Reason) > 64 {
		return badField("reason", "%.80q is not a key of 1 to 64 characters", c.Reason)
	}
	for _, r := range c.Reason {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' {
			return badField("reason", "%.80q is not in snake_case", c.Reason)
		}
	}
	if c.Message == "" {
		return badField("message", "empty")
	}
	return nil
}

func checkSeconds(field string, s, most float64) error {
	if math.IsNaN(s) || s < 0 || s > most {
		return badField(field, "%g s is outside 0 to %g", s, most)
	}
	return nil
}

func positive(field string, s float64) error {
	if s <= 0 {
		return badField(field, "must be more than 0")
	}
	return nil
}

func checkPID(pid int) error {
	if pid < 1 {
		return badField("pid", "%d is not a process", pid)
	}
	return nil
}

// Reply is what a shim says to a daemon: [Greeting], [Status], [Exit], [Probed], [Refusal],
// or on the socket of the input [InputTaken].
type Reply interface{ message }

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
	if err := cmp.Or(checkRe(m.Re), checkEpoch(m.Epoch), m.Ref.Check(), m.Versions.Check(), checkPID(m.PID), m.Phase.Check()); err != nil {
		return err
	}
	if m.Speaks < m.Oldest || m.Speaks > m.Newest {
		return badField("speaks", "%d is outside %d to %d", m.Speaks, m.Oldest, m.Newest)
	}
	return nil
}

// Status says how the rank is doing.
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
	if err := cmp.Or(checkEpoch(m.Epoch), m.Phase.Check(), checkSeconds("lease_left_s", m.LeaseLeftS, maxLeaseS)); err != nil {
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
	return cmp.Or(checkSignal("stopped", m.Stopped), checkSignal("guard_stopped", m.GuardStopped), checkLogs(m.Logs))
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
