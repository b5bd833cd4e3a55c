package rank

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/rank/prepare"
	"fulmen/daemon/internal/rank/shimproto"
	"fulmen/native"
	"fulmen/native/waker"
)

// order is an order to end a rank.
type order struct {
	killAt time.Duration // on Boot
	cause  shimproto.Cause
}

// live is the life of a rank from the request to its end.
func (r *Ranks) live(ctx context.Context, h *held, w wanted) {
	spec, err := r.prepare(ctx, h, w)
	if err == nil {
		err = r.spawn(h, spec)
	}
	switch {
	case r.ctx.Err() != nil:
		return
	case err == nil:
		r.trimLogs() // while the shim starts
		r.follow(h)
	case !h.Committed || r.remove(h):
		// The supervisor may have failed half-way, and the shim have had its time.
		if end, readErr := readEnd(h.folder); readErr == nil {
			r.concludeEnd(h, end)
		} else {
			r.concludeUnstarted(h, err)
		}
		r.clear(h)
	}
}

// prepare does all that comes before the program and gives what the shim runs.
func (r *Ranks) prepare(ctx context.Context, h *held, w wanted) (shimproto.Spec, error) {
	if err := r.save(h); err != nil {
		return shimproto.Spec{}, err
	}
	lease := r.watchLease(h)
	defer lease()
	began, whole := r.cfg.Clock.Boot(), ctx
	ctx, cancel := r.within(ctx, r.mayTake(w), "rank "+w.Rank.String()+" to be prepared")
	defer cancel()

	program := w.spec.Program
	if program.Sync {
		directory, err := r.cfg.Fetch(ctx, w.Rank.Job, w.spec, w.account, w.Plan)
		if err != nil {
			return shimproto.Spec{}, w.because(ctx, err)
		}
		program = prepare.Moved(program, directory)
	}
	if err := r.fetchModel(ctx, h, w); err != nil {
		return shimproto.Spec{}, w.because(ctx, err)
	}
	if len(program.Prepare) > 0 {
		if err := r.runPrepare(ctx, h, w, program); err != nil {
			return shimproto.Spec{}, w.because(ctx, err)
		}
	}
	resolved, err := r.cfg.Preparer.Resolve(ctx, w.account, program, w.Environment)
	if err != nil {
		return shimproto.Spec{}, w.because(ctx, err)
	}
	if w.spec.Model.Model != "" {
		if w.model, err = r.findModel(ctx, w); err != nil {
			return shimproto.Spec{}, w.because(ctx, err)
		}
		resolved.Args = slices.Clone(resolved.Args) // of a look that others may share
		for i, arg := range resolved.Args {
			resolved.Args[i] = strings.ReplaceAll(arg, modelPlace, w.model.Path)
		}
	}
	if len(program.Prepare) > 0 { // until now nobody knew; the home compares them
		r.mu.Lock()
		h.Doc.Versions, h.Doc.MLX = resolved.Versions, resolved.MLX
		r.mu.Unlock()
	}
	if w.Wait {
		if err := r.waitForOthers(whole, h, w, began); err != nil {
			return shimproto.Spec{}, err
		}
	}
	return r.shimSpec(h, w, resolved)
}

// because prefers the reason for which a wait was ended to what it ended with.
func (w wanted) because(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	late, ok := errors.AsType[*native.DeadlineError](context.Cause(ctx))
	if !ok {
		return err
	}
	reason := api.ReasonStartingTimeout
	if w.spec.Prepares() {
		reason = api.ReasonPreparingTimeout
	}
	return api.Errorf(reason, "", "The rank was not ready to start in time: %s.", late.Error()).WithWait(late.WaitingFor)
}

// runPrepare runs the spec's preparation and keeps what it prints.
func (r *Ranks) runPrepare(ctx context.Context, h *held, w wanted, program api.Program) error {
	path := filepath.Join(h.folder, api.PrepareFile)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	err = r.cfg.Preparer.Prepare(ctx, w.account, program, &capped{file: file, left: prepareLogBytes})
	if err = errors.Join(err, file.Close()); err == nil {
		return nil
	}
	known, ok := errors.AsType[*api.Error](err)
	if !ok {
		r.cfg.Log.Warn("a preparation command could not be run", "rank", w.Rank.String(), "err", err)
		known = api.Errorf(api.ReasonPrepareFailed, w.Rank.String(), "The preparation command could not be run%s.", native.ErrnoSuffix(err))
	}
	printed := lastLine(path)
	if lines := known.Data.Causes; len(lines) > 0 { // what it printed last, line by line
		printed = lines[0].Message
		for _, line := range lines[1:] {
			printed += " | " + line.Message
		}
	}
	// The home adds the node's name behind the rank.
	e := *known
	e.Message = fmt.Sprintf("Rank %d was not prepared: %s; fulmen job logs %s --prepare --rank %d shows what the command printed",
		w.Rank.Rank, strings.TrimSuffix(known.Message, "."), w.Rank.Job, w.Rank.Rank)
	if printed != "" {
		e.Message += ", at last: " + printed
	}
	return &e
}

// watchLease ends a rank that is not spawned yet when nobody renews it.
func (r *Ranks) watchLease(h *held) (done func()) {
	moved, isOver := waker.New(), false
	r.mu.Lock()
	h.moved = moved
	r.mu.Unlock()
	r.work.Go(func() {
		for {
			r.mu.Lock()
			left := h.lease - r.cfg.Clock.Boot()
			if isOver {
				r.mu.Unlock()
				return
			}
			if left <= 0 {
				r.endUnstartedLocked(h, shimproto.Cause{Reason: string(api.ReasonLeaseExpired), Message: "Nobody renewed the lease in time."})
				r.mu.Unlock()
				return
			}
			r.mu.Unlock()
			if !r.wait(left, moved) {
				return
			}
		}
	})
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		h.moved, isOver = nil, true
		close(moved)
	}
}

// spawn has the supervisor run the shim.
func (r *Ranks) spawn(h *held, spec shimproto.Spec) error {
	r.mu.Lock()
	left := h.lease - r.cfg.Clock.Boot()
	switch {
	case h.order != nil:
		r.mu.Unlock()
		return context.Canceled // endUnstarted has said why
	case left <= 0:
		r.endUnstartedLocked(h, shimproto.Cause{Reason: string(api.ReasonLeaseExpired), Message: "Nobody renewed the lease in time."})
		r.mu.Unlock()
		return context.Canceled
	}
	// From here on it may exist: an order to end it is for the shim.
	h.Committed = true
	h.Doc.Phase, h.Doc.PhaseSince = api.RankStarting, r.now()
	r.reportLocked(h.ref())
	r.mu.Unlock()
	spec.LeaseS = left.Seconds()
	if err := r.write(h, spec); err != nil {
		return err
	}
	ctx, cancel := r.within(r.ctx, spawnWithin, "the system's supervisor to take rank "+h.ref().String())
	defer cancel()
	err := r.cfg.Supervisor.Start(ctx, r.unit(h, spec))
	if errors.Is(err, native.ErrExists) {
		// What is left of a rank before; it has ended, or this one would not be here.
		if err = r.cfg.Supervisor.Remove(ctx, h.Label); err == nil || errors.Is(err, native.ErrNotFound) {
			err = r.cfg.Supervisor.Start(ctx, r.unit(h, spec))
		}
	}
	if err != nil && r.ctx.Err() == nil {
		if refusal, ok := errors.AsType[*api.Error](err); ok {
			return refusal
		}
		if errors.Is(err, native.ErrUnsupported) {
			return api.Errorf(api.ReasonSupervisorUnavailable, h.Label, "The system's supervisor does not start programs here.").From(err)
		}
		return api.Errorf(api.ReasonSpawnFailed, h.Label, "The system's supervisor could not start the rank%s.", native.ErrnoSuffix(err)).From(err)
	}
	return err
}

// spawnWithin bounds what the supervisor takes to take a unit on.
const spawnWithin = 20 * time.Second

// write writes what the shim reads, and first what a restarted daemon reads.
func (r *Ranks) write(h *held, spec shimproto.Spec) error {
	if err := r.save(h); err != nil {
		return err
	}
	if err := shimproto.WriteSpec(h.folder, spec); err != nil {
		return fmt.Errorf("the shim's spec: %w", err)
	}
	if !r.cfg.ShimAsAccount || spec.User == nil {
		return nil
	}
	// The shim runs as the account: what it reads and writes is the account's.
	for _, path := range []string{filepath.Join(h.folder, shimproto.SpecFile), h.folder, filepath.Dir(spec.Socket)} {
		if err := os.Chown(path, int(spec.User.UID), int(spec.User.GID)); err != nil {
			return err
		}
	}
	return nil
}

// homeFirst is by how much longer than the job's home a node waits for the other
// ranks, a tenth of that time at most, so that it is the home that ends them all,
// and says who was not prepared.
const homeFirst = 10 * time.Second

// mayTake is how long it may take until a rank can be started.
func (r *Ranks) mayTake(w wanted) time.Duration {
	if w.spec.Prepares() {
		return r.cfg.Times(w.spec).Preparing
	}
	return r.cfg.Times(w.spec).Starting
}

// waitsForLocked has a rank wait for the others of its job. The ports that were
// found for it rest until it has bound them.
func (r *Ranks) waitsForLocked(h *held, w wanted) {
	h.others = make(chan struct{})
	if w.Rank.Rank >= len(w.Plan.Hosts) {
		return
	}
	for _, host := range w.Plan.Hosts[w.Rank.Rank] {
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
		r.reportLocked(w.Rank)
	}
	others := h.others
	r.mu.Unlock()
	if others == nil { // it was told before
		return nil
	}
	all := r.mayTake(w)
	left := began + all + min(homeFirst, all/10) - r.cfg.Clock.Boot()
	ctx, cancel := r.within(ctx, left, "the other ranks of "+w.Rank.Job.String()+" to be prepared")
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
	return api.Errorf(api.ReasonPreparingTimeout, w.Rank.String(), "Rank %d was prepared, and waited in vain for %s.", w.Rank.Rank, waited).
		WithWait(waited)
}

// unprepared says for whom a rank waits, as far as this node has heard: for ranks
// that are not prepared, or for the job's home, which does not say that all are.
func (r *Ranks) unprepared(w wanted) string {
	isReady := func(rec *ledger.Record) bool {
		doc, err := ledger.Shared[api.Rank](rec)
		return err == nil && (!doc.PreparedAt.IsZero() || doc.Phase != api.RankPreparing)
	}
	var names []string
	for _, p := range w.Plan.Ranks {
		ref := api.RankRef{Job: w.Rank.Job, Attempt: w.Rank.Attempt, Rank: p.Rank}
		if ref != w.Rank && !slices.ContainsFunc(r.cfg.Jobs.Named(api.KindRank, ref.String(), false), isReady) {
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
	if err := r.admitLocked(p.Rank.Job, home); err != nil {
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
