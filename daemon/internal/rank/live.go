package rank

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/prepare"
	"fulmen/daemon/internal/rank/shimproto"
	"fulmen/native"
	"fulmen/native/waker"
)

// order is that a rank ends.
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
	ctx, cancel := r.within(ctx, r.mayTake(w), "rank "+w.ref.String()+" to be prepared")
	defer cancel()

	program := w.spec.Program
	if program.Sync {
		if r.cfg.Fetch == nil {
			return shimproto.Spec{}, api.Errorf(api.ReasonNotSupportedByPlatform, "sync", "This node cannot fetch the job's folder.")
		}
		directory, err := r.cfg.Fetch(ctx, w.ref.Job, w.spec, w.account, w.plan)
		if err != nil {
			return shimproto.Spec{}, w.because(ctx, err)
		}
		program = prepare.Moved(program, directory)
	}
	if len(program.Prepare) > 0 {
		if err := r.runPrepare(ctx, h, w, program); err != nil {
			return shimproto.Spec{}, w.because(ctx, err)
		}
	}
	resolved, err := r.cfg.Preparer.Resolve(ctx, w.account, program, w.environment)
	if err != nil {
		return shimproto.Spec{}, w.because(ctx, err)
	}
	if len(program.Prepare) > 0 { // until now nobody knew; the home compares them
		r.mu.Lock()
		h.Doc.Versions, h.Doc.MLX = resolved.Versions, resolved.MLX
		r.mu.Unlock()
	}
	if w.waits {
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
	if w.spec.Program.Prepares() {
		reason = api.ReasonPreparingTimeout
	}
	e := api.Errorf(reason, "", "The rank was not ready to start in time: %s.", late.Error())
	e.Data.WaitingFor = late.WaitingFor
	return e
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
		r.cfg.Log.Warn("a preparation command could not be run", "rank", w.ref.String(), "err", err)
		known = api.Errorf(api.ReasonPrepareFailed, w.ref.String(), "The preparation command could not be run%s.", native.Said(err))
	}
	said := lastLine(path)
	if lines := known.Data.Causes; len(lines) > 0 { // what it printed last, line by line
		said = lines[0].Message
		for _, line := range lines[1:] {
			said += " | " + line.Message
		}
	}
	// The home adds the node's name behind the rank.
	told := *known
	told.Message = fmt.Sprintf("Rank %d was not prepared: %s; fulmen job logs %s --prepare --rank %d shows what the command printed",
		w.ref.Rank, strings.TrimSuffix(known.Message, "."), w.ref.Job, w.ref.Rank)
	if said != "" {
		told.Message += ", at last: " + said
	}
	return &told
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
				r.endUnstarted(h, shimproto.Cause{Reason: string(api.ReasonLeaseExpired), Message: "Nobody renewed the lease in time."})
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
		r.endUnstarted(h, shimproto.Cause{Reason: string(api.ReasonLeaseExpired), Message: "Nobody renewed the lease in time."})
		r.mu.Unlock()
		return context.Canceled
	}
	// From here on it may exist: an order to end it is for the shim.
	h.Committed = true
	h.Doc.Phase, h.Doc.PhaseSince = api.RankStarting, r.now()
	r.say(h.ref())
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
		return api.Errorf(api.ReasonSpawnFailed, h.Label, "The system's supervisor could not start the rank%s.", native.Said(err)).From(err)
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
