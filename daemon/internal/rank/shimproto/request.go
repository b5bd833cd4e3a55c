package shimproto

import "math"

// Request is what a daemon says to a shim: [Hello], [Renew], [Stop], [Resize] or
// [Query].
type Request interface {
	messageType() string
	check() error
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
	return firstError(m.RequestHeader.check(), m.Ref.Check(), m.Versions.Check(), checkPID(m.PID))
}

// Renew prolongs the lease: it now ends LeaseS seconds, sleep included, after
// the shim reads this.
type Renew struct {
	RequestHeader
	LeaseS float64 `json:"lease_s"`
}

func (Renew) messageType() string { return "renew" }

func (m Renew) check() error {
	return firstError(m.RequestHeader.check(), checkSeconds("lease_s", m.LeaseS, maxLeaseS), positive("lease_s", m.LeaseS))
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
	return firstError(m.RequestHeader.check(), checkSeconds("grace_s", m.GraceS, maxGraceS), within("cause", m.Cause.Check()))
}

// Resize gives the program's terminal another size; the program is told by
// SIGWINCH. Without a terminal nothing happens.
type Resize struct {
	RequestHeader
	Terminal
}

func (Resize) messageType() string { return "resize" }

func (m Resize) check() error { return firstError(m.RequestHeader.check(), m.Terminal.Check()) }

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

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
