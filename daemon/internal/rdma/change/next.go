package change

import (
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
			effects = next.undo(Cause{})
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
	switch e := e.(type) {
	case Apply:
		r.State = api.RDMAChangeApplying
		return append([]Effect{Save{}}, r.forward(0)...)
	case Restarted, Overdue:
		return r.drop(Cause{Reason: api.ReasonRDMAChangeFailed, Message: "nobody began what was planned"})
	case Rollback:
		r.UndoneBy = e.By
		return r.drop(e.Cause)
	case Failed:
		return r.drop(e.Cause)
	case Heard:
		if isBack(e.State) {
			r.UndoneBy = e.By
			return r.drop(e.Cause)
		}
	}
	return nil
}

// drop ends a change of which nothing was made.
func (r *Record) drop(why Cause) []Effect {
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
		return r.undo(Cause{Reason: api.ReasonRDMAChangeFailed, Message: "the daemon was restarted while it was made"})
	}
	return r.backward(e)
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
	case Heard:
		if e.State == api.RDMAChangeActive {
			return r.keep()
		}
	case Restarted:
		return []Effect{Wait{DoubtWithin}}
	case Overdue:
		return r.undo(Cause{Reason: api.ReasonRDMAChangeFailed, Message: "nobody said within " + DoubtWithin.String() + " that the other end is changed too"})
	}
	return r.backward(e)
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
	return r.backward(e)
}

// backward takes what sends a change back.
func (r *Record) backward(e Event) []Effect {
	switch e := e.(type) {
	case Failed:
		return r.undo(e.Cause)
	case Rollback:
		r.UndoneBy = e.By
		return r.undo(e.Cause)
	case Heard:
		if isBack(e.State) {
			r.UndoneBy = e.By
			return r.undo(e.Cause)
		}
	}
	return nil
}

// undo begins to put steps back, the last first. A step that is only planned may
// have been made without a note of it.
func (r *Record) undo(why Cause) []Effect {
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
		if e.Fate == Changed {
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
	r.Message = ""
	for _, s := range left {
		if r.Message != "" {
			r.Message += "; "
		}
		r.Message += s.Found
	}
}

// isBack reports whether an end that says so is not changed, or will not be.
func isBack(s api.RDMAChangeState) bool {
	switch s {
	case api.RDMAChangeUndoing, api.RDMAChangeUndone, api.RDMAChangePartial:
		return true
	}
	return false
}
