package health

import (
	"fmt"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

// Hold says whether a condition holds on a subject, and what is particular of it.
func (h *Health) Hold(code api.Reason, subject string, holds bool, detail string) {
	var err error
	if holds {
		err = h.raise(code, subject, detail)
	} else {
		err = h.clear(code, subject)
	}
	if err != nil {
		h.log.Error("a condition could not be published", "code", code, "subject", subject, "detail", detail, "error", err)
	}
}

// Only says that a condition holds on these subjects, each with its detail, and on no
// other.
func (h *Health) Only(code api.Reason, details map[string]string) {
	for _, subject := range h.subjects(code) {
		if _, still := details[subject]; !still {
			h.Hold(code, subject, false, "")
		}
	}
	for subject, detail := range details {
		h.Hold(code, subject, true, detail)
	}
}

// Raise says that a condition holds of the node as a whole.
func (h *Health) Raise(code api.Reason, detail string) { h.Hold(code, "", true, detail) }

// Clear says that conditions of the node as a whole hold no longer.
func (h *Health) Clear(codes ...api.Reason) {
	for _, code := range codes {
		h.Hold(code, "", false, "")
	}
}

// Set says that a condition holds with a detail, or, where that is empty, does not.
func (h *Health) Set(code api.Reason, detail string) { h.SetOf(code, "", detail) }

// SetOf is Set for a condition on a subject.
func (h *Health) SetOf(code api.Reason, subject, detail string) {
	h.Hold(code, subject, detail != "", detail)
}

// Output tells that the disk does not take what ranks print, until it has taken all
// that one printed which was started later.
type Output struct {
	own *Health
	now func() time.Time

	mu   sync.Mutex
	last time.Time // when something was lost last; zero where nothing is
}

// NewOutput makes the condition of this node's output.
func NewOutput(own *Health, now func() time.Time) *Output { return &Output{own: own, now: now} }

// Lost hears why the disk does not take what a rank prints.
func (p *Output) Lost(rank api.RankRef, problem string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = p.now()
	p.own.Raise(api.ReasonOutputLost, fmt.Sprintf("rank %d of job %s: %s", rank.Rank, rank.Job, problem))
}

// Ended hears of every rank of this node that has ended. Of one that lost something
// that was told before.
func (p *Output) Ended(rank api.Rank) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o := rank.Output; p.last.IsZero() || o == nil || o.OutBytes+o.ErrBytes == 0 || !rank.SpawnedAt.After(p.last) {
		return
	}
	p.last = time.Time{}
	p.own.Clear(api.ReasonOutputLost)
}

// stepLimit is how far the wall clock may move against the clock that counts
// from the start of the system, before it was set: NTP slews by half a
// millisecond in a second at most.
const stepLimit = 2 * time.Second

// ClockWatch finds out that the wall clock was set. Nothing announces it to
// everybody, so it looks whenever facts are published.
type ClockWatch struct {
	mu     sync.Mutex
	origin time.Time // the wall clock at Boot zero, as of the last look
}

// Look reports by how much the wall clock was set since the last look; 0 if it
// was not.
func (w *ClockWatch) Look(clock native.Clock) time.Duration {
	// Go's monotonic reading is stripped: this is about the wall.
	origin := clock.Now().Round(0).Add(-clock.Boot())
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.origin
	w.origin = origin
	step := origin.Sub(before)
	if before.IsZero() || step.Abs() < stepLimit {
		return 0
	}
	return step
}
