package rank

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

// homeFirst is by how much longer than the job's home a node waits for the other
// ranks, a tenth of that time at most, so that it is the home that ends them all,
// and says who was not prepared.
const homeFirst = 10 * time.Second

// mayTake is how long it may take until a rank can be started.
func (r *Ranks) mayTake(w wanted) time.Duration {
	if w.spec.Program.Prepares() {
		return r.cfg.preparing(w.spec)
	}
	return r.cfg.starting(w.spec)
}

// waitsFor has a rank wait for the others of its job. The ports that were found for
// it rest until it has bound them. The caller holds mu.
func (r *Ranks) waitsFor(h *held, w wanted) {
	h.others = make(chan struct{})
	if w.ref.Rank >= len(w.plan.Hosts) {
		return
	}
	for _, host := range w.plan.Hosts[w.ref.Rank] {
		if a, err := netip.ParseAddrPort(host); err == nil {
			r.ports[a] = r.cfg.Clock.Boot() + r.mayTake(w) + portRest
		}
	}
}

// waitForOthers says that the rank is prepared, and waits until all are: until the
// home says so, or the rank is to end, or the time is over that it has.
func (r *Ranks) waitForOthers(ctx context.Context, h *held, w wanted, began time.Duration) error {
	r.mu.Lock()
	h.Doc.PreparedAt = r.now()
	if !h.Doc.Phase.Ended() {
		r.say(w.ref)
	}
	others := h.others
	r.mu.Unlock()
	if others == nil { // it was told before
		return nil
	}
	all := r.mayTake(w)
	left := began + all + min(homeFirst, all/10) - r.cfg.Clock.Boot()
	ctx, cancel := r.within(ctx, left, "the other ranks of "+w.ref.Job.String()+" to be prepared")
	defer cancel()
	select {
	case <-others:
		return nil
	case <-ctx.Done():
	}
	if _, ok := errors.AsType[*native.DeadlineError](context.Cause(ctx)); !ok {
		return context.Cause(ctx)
	}
	waited := r.unprepared(w)
	e := api.Errorf(api.ReasonPreparingTimeout, w.ref.String(), "Rank %d was prepared, and waited in vain for %s.", w.ref.Rank, waited)
	e.Data.WaitingFor = waited
	return e
}

// unprepared says for whom a rank waits, as far as this node has heard: for ranks
// that are not prepared, or for the job's home, which does not say that all are.
func (r *Ranks) unprepared(w wanted) string {
	isReady := func(rec *ledger.Record) bool {
		doc, err := ledger.Shared[api.Rank](rec)
		return err == nil && (!doc.PreparedAt.IsZero() || doc.Phase != api.RankPreparing)
	}
	var names []string
	for _, p := range w.plan.Ranks {
		ref := api.RankRef{Job: w.ref.Job, Attempt: w.ref.Attempt, Rank: p.Rank}
		if ref != w.ref && !slices.ContainsFunc(r.cfg.Jobs.Named(api.KindRank, ref.String(), false), isReady) {
			names = append(names, fmt.Sprintf("rank %d on %s", p.Rank, p.Node.Display()))
		}
	}
	if len(names) == 0 {
		return "the job's home, " + w.from.Node().Display() + ", to start it"
	}
	return strings.Join(names, ", ")
}

// spawnPrepared has a rank run that waits for the others, or will once it is
// prepared. The same order again, and one that comes after its end, changes nothing.
func (r *Ranks) spawnPrepared(_ context.Context, home gate.Home, p api.PeerSpawnParams) (any, error) {
	if err := checkCall(p.Rank.Job, p.Rank.Attempt, p.Epoch); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.admit(p.Rank.Job, home); err != nil {
		return nil, err
	}
	h := r.held[p.Rank]
	if h == nil || h.Doc.Epoch != p.Epoch {
		return nil, api.Errorf(api.ReasonNoSuchRank, p.Rank.String(), "This node has no rank %s that waits to be started.", p.Rank)
	}
	if h.others != nil {
		close(h.others)
		h.others = nil
	}
	return api.Empty{}, nil
}
