package change

import (
	"strings"
	"time"

	"fulmen/daemon/api"
)

const (
	// PlannedWithin is how long an end keeps itself free for a change that was
	// planned and not begun.
	PlannedWithin = 30 * time.Second
	// DoubtWithin is how long an end that has applied its part waits to hear that it
	// stays. It is longer than everything between applying and that word may take.
	DoubtWithin = 3 * time.Minute
)

// Next takes what happened to an end's part of a change. The record given is not
// altered.
func Next(r Record, at api.Time, e Event) (Record, []Effect) {
	next := r.copied()
	var effects []Effect
	switch r.State {
	case api.RDMAChangePlanned:
		effects = next.planned(e)
	case api.RDMAChangeApplying:
		effects = next.applying(e)
	case api.RDMAChangeProving:
		effects = next.proving(e)
	case api.RDMAChangeActive:
		effects = next.active(e)
	case api.RDMAChangeUndoing:
		effects = next.undoing(e)
	case api.RDMAChangePartial:
		if back, is := e.(Rollback); is {
			next.UndoneBy = back.By
			effects = next.undo(api.Cause{})
		}
	}
	if effects == nil {
		return r, nil
	}
	if next.State != r.State {
		next.Since = at
	}
	return next, effects
}

// planned is a change of which nothing was made yet.
func (r *Record) planned(e Event) []Effect {
	switch e.(type) {
	case Apply:
		r.State = api.RDMAChangeApplying
		return append([]Effect{Save{}}, r.forward(0)...)
	case Restarted, Overdue:
		return r.drop(api.Cause{Reason: api.ReasonRDMAChangeFailed, Message: "nobody began what was planned"})
	}
	return r.backward(e, r.drop)
}

// drop ends a change of which nothing was made.
func (r *Record) drop(why api.Cause) []Effect {
	r.State, r.Reason, r.Message = api.RDMAChangeUndone, why.Reason, why.Message
	for i := range r.Steps {
		if r.Steps[i].State == api.RDMAStepDone { // of an earlier change
			r.State, r.Reason = api.RDMAChangePartial, api.ReasonRDMAUndoPartial
			r.Steps[i].State = api.RDMAStepLeft
			continue
		}
		r.Steps[i].State = api.RDMAStepUndone
	}
	return []Effect{Save{}}
}

// applying is a change whose steps are being made.
func (r *Record) applying(e Event) []Effect {
	switch e := e.(type) {
	case Made:
		step := &r.Steps[e.Step]
		step.State = api.RDMAStepDone
		if step.Service != nil {
			step.Service.ID = e.Service.ID
		}
		return append([]Effect{Save{}}, r.forward(e.Step+1)...)
	case Verified:
		r.State = api.RDMAChangeProving
		return []Effect{Save{}, Wait{DoubtWithin}}
	case Restarted:
		// What the step under way came to is not known, and whoever asked has had no answer.
		return r.undo(api.Cause{Reason: api.ReasonRDMAChangeFailed, Message: "the daemon was restarted while it was made"})
	}
	return r.backward(e, r.undo)
}

// forward is the next step, or the look at what came of them.
func (r *Record) forward(from int) []Effect {
	for i := from; i < len(r.Steps); i++ {
		if r.Steps[i].State == api.RDMAStepPlanned {
			return []Effect{Make{i}}
		}
	}
	return []Effect{Verify{}}
}

// proving is a change that is made at this end and not yet known to be at both.
func (r *Record) proving(e Event) []Effect {
	switch e := e.(type) {
	case Commit:
		r.Reason, r.Message = e.Untested.Reason, e.Untested.Message
		return r.keep()
	case PeerChange:
		if e.State == api.RDMAChangeActive {
			return r.keep()
		}
	case Restarted:
		return []Effect{Wait{DoubtWithin}}
	case Overdue:
		return r.undo(api.Cause{Reason: api.ReasonRDMAChangeFailed, Message: "nobody said within " + DoubtWithin.String() + " that the other end is changed too"})
	}
	return r.backward(e, r.undo)
}

func (r *Record) keep() []Effect {
	r.State = api.RDMAChangeActive
	return []Effect{Save{}}
}

// active is a change in force.
func (r *Record) active(e Event) []Effect {
	if again, is := e.(Remade); is {
		r.Steps[again.Step].Service.ID = again.Service.ID
		return []Effect{Save{}}
	}
	if _, is := e.(Failed); is {
		return nil
	}
	return r.backward(e, r.undo)
}

// backward takes what sends a change back.
func (r *Record) backward(e Event, end func(api.Cause) []Effect) []Effect {
	switch e := e.(type) {
	case Failed:
		return end(e.Cause)
	case Rollback:
		r.UndoneBy = e.By
		return end(e.Cause)
	case PeerChange:
		if IsBack(e.State) {
			r.UndoneBy = e.By
			return end(e.Cause)
		}
	}
	return nil
}

// undo begins to put steps back, the last first. A step that is only planned may
// have been made without a note of it.
func (r *Record) undo(why api.Cause) []Effect {
	r.State, r.Reason, r.Message = api.RDMAChangeUndoing, why.Reason, why.Message
	next := r.back(len(r.Steps) - 1)
	if next == nil {
		r.finish()
	}
	return append([]Effect{Save{}}, next...)
}

// undoing is a change that is being put back.
func (r *Record) undoing(e Event) []Effect {
	switch e := e.(type) {
	case PutBack:
		step := &r.Steps[e.Step]
		step.State, step.Found = api.RDMAStepUndone, ""
		if e.Outcome == Changed {
			step.State, step.Found = api.RDMAStepLeft, e.Found
		}
		next := r.back(e.Step - 1)
		if next == nil {
			r.finish()
		}
		return append([]Effect{Save{}}, next...)
	case Restarted:
		if next := r.back(len(r.Steps) - 1); next != nil {
			return next
		}
		r.finish()
		return []Effect{Save{}}
	}
	return nil
}

// back is the order to put back the last step up to from that is not.
func (r *Record) back(from int) []Effect {
	for i := from; i >= 0; i-- {
		if r.Steps[i].State != api.RDMAStepUndone {
			return []Effect{Undo{i}}
		}
	}
	return nil
}

// finish says how putting back ended.
func (r *Record) finish() {
	r.State = api.RDMAChangeUndone
	left := r.Left()
	if len(left) == 0 {
		return
	}
	r.State, r.Reason = api.RDMAChangePartial, api.ReasonRDMAUndoPartial
	var found []string
	for _, s := range left {
		found = append(found, s.Found)
	}
	r.Message = strings.Join(found, "; ")
}

// IsBack reports whether an end that says so is not changed, or will not be.
func IsBack(s api.RDMAChangeState) bool {
	switch s {
	case api.RDMAChangeUndoing, api.RDMAChangeUndone, api.RDMAChangePartial:
		return true
	}
	return false
}

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
type Failed struct{ Cause api.Cause }

// Verified answers [Verify]: the system shows what the change was for.
type Verified struct{}

// Commit is the order to keep the change: both ends have applied it, and data came
// over the cable.
type Commit struct {
	// Untested is why no data was sent, where that is no fault of the cable.
	Untested api.Cause
}

// Rollback is the order to put everything back.
type Rollback struct {
	// By is the person who wants it; the zero principal where nobody does.
	By api.Principal
	// Cause is why, where it is not a person's request.
	Cause api.Cause
}

// PeerChange is what the other end says of the same change.
type PeerChange struct {
	State api.RDMAChangeState
	// By is the person who had it put back there; the zero principal where nobody did.
	By api.Principal
	// Cause is why, where it was nobody's request.
	Cause api.Cause
}

// Overdue says that the time of [Wait] is over.
type Overdue struct{}

// Restarted says that the daemon was started anew: what was under way is not, and
// what came of it is not known.
type Restarted struct{}

// PutBack answers [Undo].
type PutBack struct {
	Step int
	// Outcome is what was found: [Ours] was put back, [Before] needed nothing, [Changed]
	// was left.
	Outcome Outcome
	// Found is what was there, where it was left.
	Found string
}

// Remade says that the service of a step is another one with the same settings.
type Remade struct {
	Step    int
	Service Service
}

func (Apply) event()      {}
func (Made) event()       {}
func (Failed) event()     {}
func (Verified) event()   {}
func (Commit) event()     {}
func (Rollback) event()   {}
func (PeerChange) event() {}
func (Overdue) event()    {}
func (Restarted) event()  {}
func (PutBack) event()    {}
func (Remade) event()     {}

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
