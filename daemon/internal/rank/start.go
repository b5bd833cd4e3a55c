package rank

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/native"
)

// start takes a rank on. It answers once all is checked and noted; what follows
// is told by the rank's document. The same request again gets the same answer.
func (r *Ranks) start(_ context.Context, home gate.Home, p api.PeerStartParams) (any, error) {
	if err := cmp.Or(checkCall(p.Rank.Job, p.Rank.Attempt, p.Epoch), checkLease(p.LeaseS)); err != nil {
		return nil, err
	}
	if !p.Rank.Valid() {
		return nil, api.NewError(api.ReasonMalformedID, p.Rank.String())
	}
	if known, err := r.mayStart(p.Rank, home); known || err != nil {
		return api.Empty{}, err
	}
	w, err := r.check(home, p)
	if err != nil {
		return nil, err
	}
	folder := r.rankFolder(w.ref)
	if err := errors.Join(makeFolder(r.jobFolder(w.ref.Job)), makeFolder(filepath.Dir(folder)), makeFolder(folder)); err != nil {
		return nil, api.Errorf(api.ReasonSpawnFailed, w.ref.String(), "The rank's folder cannot be made%s.", native.Said(err)).From(err)
	}
	h, err := r.accept(w)
	if h == nil || err != nil {
		return api.Empty{}, err
	}
	r.changed()
	return api.Empty{}, nil
}

// mayStart refuses a rank that must not be started, and reports whether it was
// taken on before.
func (r *Ranks) mayStart(ref api.RankRef, home gate.Home) (known bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mayStartLocked(ref, home)
}

func (r *Ranks) mayStartLocked(ref api.RankRef, home gate.Home) (known bool, err error) {
	if err := r.admit(ref.Job, home); err != nil {
		return false, err
	}
	h, f, epoch := r.held[ref], r.fence(ref.Job), home.Epoch()
	switch {
	case h != nil && h.Doc.Epoch == epoch:
		return true, nil
	case h != nil:
		return false, api.Errorf(api.ReasonStaleEpoch, ref.String(), "The rank was started under epoch %d; a new home starts a new attempt.", h.Doc.Epoch)
	case f.ended(ref):
		return false, api.Errorf(api.ReasonJobEnded, ref.String(), "The rank was ended before it was started.")
	case ref.Attempt > f.Attempt && f.Starts >= maxStarts(home.Spec()):
		return false, api.Errorf(api.ReasonRetriesSpent, ref.String(), "%d attempts were started here; the job's spec allows no more.", f.Starts)
	}
	for _, other := range r.ofJob(ref.Job) {
		if other.Doc.Attempt != ref.Attempt && !other.Doc.Phase.Ended() {
			return false, api.Errorf(api.ReasonWaitingForRanks, other.ref().String(), "Rank %s has not ended here.", other.ref())
		}
	}
	return false, nil
}

// maxStarts is how many attempts of a job a node starts at most, whatever its home
// says: as many as may fail before all ranks join, once and after each retry.
func maxStarts(spec api.JobSpec) int {
	starts := api.DefaultStarts
	if spec.MaxAttempts > 0 {
		starts = spec.MaxAttempts
	}
	return starts * (1 + max(spec.Retries, 0))
}

// accept takes on a rank that was checked, nil where somebody else just did.
func (r *Ranks) accept(w wanted) (*held, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		return nil, api.NewError(api.ReasonStopping, string(r.cfg.Node))
	}
	if known, err := r.mayStartLocked(w.ref, w.from); known || err != nil {
		return nil, err
	}
	if !r.cfg.Grants.Occupy(w.ref, w.epoch) {
		return nil, api.Errorf(api.ReasonGrantRefused, w.ref.String(), "There is no grant of rank %d any more: the daemon was started again since, or nobody renewed it.", w.ref.Rank)
	}
	rec := record{
		Doc: api.Rank{
			Job: w.ref.Job, Attempt: w.ref.Attempt, Rank: w.ref.Rank, Epoch: w.epoch, SpecSHA256: w.sha256,
			Phase: api.RankPreparing, PhaseSince: r.now(),
		},
		Principal: w.spec.Principal, Home: w.from.Node(), Account: w.account.Name, Plan: w.rank, Output: w.spec.Output,
		Label: r.labelOf(w.ref), Socket: socketIn(r.runtimeFolder(w.ref)), LeaseS: w.leaseS, GraceS: r.cfg.grace(w.spec).Seconds(),
	}
	if joins(w.plan) && !w.spec.AllowSolo {
		rec.Doc.Handshake = &api.Handshake{State: api.HandshakeNone}
	}
	rec.Made = r.made + 1 // add counts it
	h := r.add(rec, r.rankFolder(w.ref))
	h.lease = r.cfg.Clock.Boot() + secondsOf(w.leaseS)
	ctx, cancel := context.WithCancel(r.ctx)
	h.giveUp = cancel
	if w.waits {
		r.waitsFor(h, w)
	}
	r.fence(w.ref.Job).attempt(w.ref.Attempt)
	for _, old := range r.ofJob(w.ref.Job) {
		if old.Doc.Attempt < w.ref.Attempt && !old.hidden {
			old.hidden = true
			r.say(old.ref())
		}
	}
	r.say(w.ref)
	r.work.Go(func() {
		defer cancel()
		r.live(ctx, h, w)
	})
	return h, nil
}
