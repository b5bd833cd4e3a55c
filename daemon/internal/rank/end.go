package rank

import (
	"cmp"
	"context"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/rank/prepare/look"
	"fulmen/daemon/internal/rank/shimproto"
)

// end ends ranks of an attempt. When it answers the order is taken, and a
// restarted daemon knows it too: a rank that was not started never will be, and
// one that runs has the grace.
func (r *Ranks) end(_ context.Context, home gate.Home, p api.PeerEndParams) (any, error) {
	if err := checkCall(p.Job, p.Attempt, p.Epoch); err != nil {
		return nil, err
	}
	if !(p.GraceS >= 0 && p.GraceS <= maxGraceS) {
		return nil, api.Errorf(api.ReasonBadValue, "grace_s", "A grace of %g s is not from 0 to %d s.", p.GraceS, maxGraceS)
	}
	if err := r.takeEnd(home, p); err != nil {
		return nil, err
	}
	r.cfg.Changed()
	return api.Empty{}, nil
}

// maxGraceS is the longest grace that a shim takes.
const maxGraceS = 3600

func (r *Ranks) takeEnd(home gate.Home, p api.PeerEndParams) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.fenceLocked(p.Job).Epoch
	if err := r.admitLocked(p.Job, home); err != nil {
		return err
	}
	// So that the arbiter refuses the former home as well.
	if _, err := r.cfg.Grants.Renew(p.Job, p.Attempt, p.Epoch, 0); err != nil {
		return err
	}
	return r.endLocked(p, p.Epoch > before)
}

// EndHere ends a rank for a reason of this node's own, as its home would.
func (r *Ranks) EndHere(rank api.RankRef, reason api.Reason, grace time.Duration) error {
	return r.endHere(rank, reason, "", grace)
}

// EndUnanswered ends a rank of which a probe has failed for good.
func (r *Ranks) EndUnanswered(rank api.RankRef, message string) error {
	return r.endHere(rank, api.ReasonProbeFailed, message, r.cfg.Times(api.JobSpec{}).FailedGrace)
}

func (r *Ranks) endHere(rank api.RankRef, reason api.Reason, message string, grace time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.cfg.Changed()
	return r.endLocked(api.PeerEndParams{Job: rank.Job, Attempt: rank.Attempt, Ranks: []int{rank.Rank}, Reason: reason, Message: message, GraceS: grace.Seconds()}, false)
}

// endLocked takes the order to end ranks of an attempt. isNew says that the job's
// epoch has to be kept whatever else is to be.
func (r *Ranks) endLocked(p api.PeerEndParams, isNew bool) error {
	if r.fenceLocked(p.Job).end(p.Attempt, p.Ranks) || isNew {
		if err := r.saveFenceLocked(p.Job); err != nil {
			return err
		}
	}
	cause := causeOf(p.Reason, p.Message)
	for _, h := range r.ofJobLocked(p.Job) {
		if h.Doc.Attempt == p.Attempt && (len(p.Ranks) == 0 || slices.Contains(p.Ranks, h.Doc.Rank)) {
			r.endOneLocked(h, cause, api.Seconds(p.GraceS))
		}
	}
	return nil
}

// causeOf is a reason as a shim notes it.
func causeOf(reason api.Reason, message string) shimproto.Cause {
	info, _ := api.LookupReason(reason)
	reason = cmp.Or(info.Reason, api.ReasonCancelled) // a newer version's is not known here
	return shimproto.Cause{Reason: string(reason), Message: cmp.Or(look.Line(message, maxMessage), info.Text, "The job was ended.")}
}

// maxMessage bounds what a home says of why it ends a rank.
const maxMessage = 1000

// endOneLocked ends a rank. The first cause stays, and the grace only gets shorter.
func (r *Ranks) endOneLocked(h *held, cause shimproto.Cause, grace time.Duration) {
	switch {
	case h.Doc.Phase.Ended():
		return
	case !h.Committed:
		r.endUnstartedLocked(h, cause)
		return
	}
	killAt := r.cfg.Clock.Boot() + grace
	if h.order != nil {
		if killAt >= h.order.killAt {
			return
		}
		cause = h.order.cause
	}
	h.order = &order{killAt: killAt, cause: cause}
	r.enterLocked(h, api.RankEnding, api.Reason(cause.Reason), cause.Message)
	h.wake.Wake()
}

// endUnstartedLocked ends a rank that was not given to the supervisor, and so never
// will be. What was being prepared is given up.
func (r *Ranks) endUnstartedLocked(h *held, cause shimproto.Cause) {
	if h.Committed || h.Doc.Phase.Ended() {
		return
	}
	h.order = &order{cause: cause}
	h.Doc.EndedAt = r.now()
	r.enterLocked(h, api.RankExited, api.Reason(cause.Reason), cause.Message)
	if h.giveUp != nil {
		h.giveUp()
	}
}
