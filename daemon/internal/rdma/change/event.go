package change

import (
	"time"

	"fulmen/daemon/api"
)

// Event is something that happened to one end's part of a change. Events that do
// not fit the record's state change nothing.
type Event interface{ event() }

// Apply is the order to change what was planned.
type Apply struct{}

// Made answers [Make]: the step is made.
type Made struct {
	Step int
	// Service is the service that was made.
	Service Service
}

// Failed answers [Make], [Verify] and [Save]: it did not work.
type Failed struct{ Cause Cause }

// Verified answers [Verify]: the system shows what the change was for.
type Verified struct{}

// Commit is the order to keep the change: both ends have applied it, and data came
// over the cable.
type Commit struct {
	// Untested is why no data was sent, where that is no fault of the cable.
	Untested Cause
}

// Rollback is the order to put everything back.
type Rollback struct {
	// By is the person who wants it; the zero principal where nobody does.
	By api.Principal
	// Cause is why, where it is not a person's wish.
	Cause Cause
}

// Heard is what the other end says of the same change.
type Heard struct {
	State api.RDMAChangeState
	// By is the person who had it put back there; the zero principal where nobody did.
	By api.Principal
	// Cause is why, where it was nobody's wish.
	Cause Cause
}

// Overdue says that the time of [Wait] is over.
type Overdue struct{}

// Restarted says that the daemon was started anew: what was under way is not, and
// what came of it is not known.
type Restarted struct{}

// PutBack answers [Undo].
type PutBack struct {
	Step int
	// Fate is what was found: [Ours] was put back, [Before] needed nothing, [Changed]
	// was left.
	Fate Fate
	// Found is what was there, where it was left.
	Found string
}

// Remade says that the service of a step is another one with the same settings.
type Remade struct {
	Step    int
	Service Service
}

func (Apply) event()     {}
func (Made) event()      {}
func (Failed) event()    {}
func (Verified) event()  {}
func (Commit) event()    {}
func (Rollback) event()  {}
func (Heard) event()     {}
func (Overdue) event()   {}
func (Restarted) event() {}
func (PutBack) event()   {}
func (Remade) event()    {}

// Cause says why a change is put back.
type Cause struct {
	// Reason is the stable key.
	Reason api.Reason
	// Message is one sentence for a person.
	Message string
}

// Effect is something to be done, in the order given.
type Effect interface{ effect() }

// Save makes the record durable and then tells everybody. Where that fails and the
// record moves forward, the event is [Failed], of the record as it was.
type Save struct{}

// Make makes a step: answered by [Made] or [Failed].
type Make struct{ Step int }

// Verify waits until the system shows what the change was for: answered by
// [Verified] or [Failed].
type Verify struct{}

// Undo puts a step back as far as it is still as the change left it: answered by
// [PutBack].
type Undo struct{ Step int }

// Wait asks for [Overdue] after a time, sleep included, unless the state is another
// by then.
type Wait struct{ For time.Duration }

func (Save) effect()   {}
func (Make) effect()   {}
func (Verify) effect() {}
func (Undo) effect()   {}
func (Wait) effect()   {}
