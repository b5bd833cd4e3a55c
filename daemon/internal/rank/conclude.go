package rank

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/shimproto"
	"fulmen/native"
)

const (
	// removeWithin bounds one attempt to have the supervisor forget a unit.
	removeWithin = 15 * time.Second
	// removeSoon bounds it where the rank is known to have ended.
	removeSoon = 2 * time.Second
	// removeAgain is the pause between a failed attempt and the next.
	removeAgain = 2 * time.Second
)

// conclude takes down the end of a rank of which nothing lives any more, unless
// that was done already.
func (r *Ranks) conclude(h *held, notify func(doc *api.Rank)) {
	r.mu.Lock()
	if r.ctx.Err() != nil {
		r.mu.Unlock()
		return
	}
	if !h.Doc.Phase.Ended() {
		was := h.Doc.Phase
		notify(&h.Doc)
		if was != h.Doc.Phase {
			h.Doc.PhaseSince = r.now()
		}
		if h.Doc.EndedAt.IsZero() {
			h.Doc.EndedAt = r.now()
		}
	}
	h.Doc.Ports, h.Doc.ReadyAt, h.Doc.NotReady, h.Doc.IdleSince = nil, api.Time{}, "", api.Time{} // nothing listens any more
	doc := h.Doc
	r.mu.Unlock()
	// On the disk first: a daemon that is killed after it has told is followed by
	// one that tells the same.
	if err := r.save(h); err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.cfg.Log.Error("the end of a rank could not be kept", "rank", h.ref().String(), "err", err)
	}
	r.cfg.Channels.Close(h.ref())
	r.cfg.Grants.Vacate(h.grant())
	r.publishOne(h.ref()) // a Mac that is about to sleep waits for this, and then tells the others
	close(h.over)
	r.cfg.Ended(doc)
	r.cfg.Changed()
}

// concludeEnd is the end of a rank as its shim noted it.
func (r *Ranks) concludeEnd(h *held, end shimproto.ExitRecord) {
	r.mu.Lock()
	spawned := end.PID != 0 && !h.reported // it was through before anybody looked
	h.reported = h.reported || spawned
	r.mu.Unlock()
	if spawned {
		r.cfg.Spawned(h.ref())
	}
	r.settle(h)
	r.notifyLost(h.ref(), end.Logs)
	r.conclude(h, func(doc *api.Rank) {
		switch setEnd(doc, end); {
		case h.interrupted && doc.Reason == api.ReasonRankFailed:
			doc.Reason, doc.Message = api.ReasonDaemonRestarted, interruption(h).Message
		case h.interrupted && doc.Reason == "": // nobody saw it join; without, it would not have ended well
			joined := *doc.Handshake
			joined.State = api.HandshakeJoined
			doc.Handshake = &joined
		}
	})
}

// notifyLost tells why the disk did not take what a rank printed, where it did not.
func (r *Ranks) notifyLost(ref api.RankRef, logs []shimproto.LogEnd) {
	if i := slices.IndexFunc(logs, func(l shimproto.LogEnd) bool { return l.Problem != "" }); i >= 0 {
		r.cfg.OutputLost(ref, logs[i].Problem)
	}
}

// setEnd takes the end of a rank from its exit record.
func setEnd(doc *api.Rank, end shimproto.ExitRecord) {
	doc.Phase, doc.PID = api.RankExited, end.PID
	doc.EndedAt = api.TimeOf(end.EndedAt.Time)
	if end.NotStarted == nil {
		doc.SpawnedAt = api.TimeOf(end.StartedAt.Time)
		doc.Exit = &api.Exit{Code: end.Code, Signal: int(unix.SignalNum(end.Signal)), OutOfMemory: end.OutOfMemory}
	}
	if u := end.Usage; u != nil {
		doc.Usage = &api.Usage{UserS: u.UserS, SystemS: u.SystemS, MaxResidentBytes: u.MaxRSSBytes}
	}
	if len(end.Logs) > 0 {
		doc.Output = &api.OutputSize{}
		for _, l := range end.Logs {
			if l.Stream == "stdout" {
				doc.Output.OutBytes = l.WrittenBytes
			} else {
				doc.Output.ErrBytes = l.WrittenBytes
			}
			doc.Output.DroppedBytes += l.WrittenBytes - l.KeptBytes
		}
	}
	doc.Reason, doc.Message = whyEnded(doc.Rank, end)
}

// whyEnded names the end of a rank; there is nothing to say of one that ended well.
func whyEnded(rank int, end shimproto.ExitRecord) (api.Reason, string) {
	switch {
	case end.Cause != nil:
		return api.Reason(end.Cause.Reason), end.Cause.Message
	case end.NotStarted != nil:
		return api.Reason(end.NotStarted.Reason), end.NotStarted.Message
	case end.OutOfMemory:
		return api.ReasonRankOutOfMemory, fmt.Sprintf("The system ended rank %d because it used too much memory.", rank)
	case end.Signal != "":
		reason := api.ReasonRankKilled
		switch unix.SignalNum(end.Signal) {
		case unix.SIGILL, unix.SIGTRAP, unix.SIGABRT, unix.SIGBUS, unix.SIGFPE, unix.SIGSEGV:
			reason = api.ReasonRankCrashed
		}
		return reason, fmt.Sprintf("Rank %d was ended by %s.", rank, end.Signal)
	case *end.Code != 0:
		return api.ReasonRankFailed, fmt.Sprintf("Rank %d ended with exit code %d.", rank, *end.Code)
	}
	return "", ""
}

// concludeUnstarted is the end of a rank that never ran.
func (r *Ranks) concludeUnstarted(h *held, err error) {
	known, ok := errors.AsType[*api.Error](err)
	if !ok {
		r.cfg.Log.Warn("a rank could not be started", "rank", h.ref().String(), "err", err)
	}
	switch {
	case ok:
	case errors.Is(err, unix.ENOSPC):
		known = api.Errorf(api.ReasonDiskFull, h.ref().String(), "The rank could not be started: the disk is full.")
	case errors.Is(err, fs.ErrPermission):
		known = api.Errorf(api.ReasonPermissionDenied, h.ref().String(), "The rank could not be started%s.", native.ErrnoSuffix(err))
	default:
		known = api.Errorf(api.ReasonSpawnFailed, h.ref().String(), "The rank could not be started%s.", native.ErrnoSuffix(err))
	}
	r.conclude(h, func(doc *api.Rank) {
		doc.Phase, doc.Reason, doc.Message = api.RankExited, known.Data.Reason, known.Message
		if h.order != nil {
			doc.Reason, doc.Message = api.Reason(h.order.cause.Reason), h.order.cause.Message
		}
	})
}

// concludeGone is the end of a rank whose shim is gone without a word: whatever
// is left of it goes first.
func (r *Ranks) concludeGone(h *held) {
	if !r.remove(h) {
		return
	}
	end, err := readEnd(h.folder)
	if err == nil {
		r.concludeEnd(h, end)
		return
	}
	if !errors.Is(err, fs.ErrNotExist) {
		r.cfg.Log.Error("the end of a rank cannot be read", "rank", h.ref().String(), "err", err)
	}
	r.mu.Lock()
	ran := h.reported || !h.Doc.SpawnedAt.IsZero()
	r.mu.Unlock()
	if _, err := os.Lstat(filepath.Join(h.folder, shimReserve)); err == nil {
		ran = true
	}
	if !ran {
		// The shim did not come as far as the program.
		line := lastLine(filepath.Join(h.folder, shimLog))
		switch {
		case line == "" && h.inherited: // nobody knows whether it was asked for
			r.concludeUnstarted(h, restarted(h, "The daemon that started rank %d was restarted before the program ran."))
			return
		case line == "":
			line = "its shim ended at once"
		}
		r.concludeUnstarted(h, api.Errorf(api.ReasonSpawnFailed, h.ref().String(), "The rank could not be started: %s.", line))
		return
	}
	r.conclude(h, func(doc *api.Rank) {
		doc.Phase, doc.Reason = api.RankLost, api.ReasonRankLost
		doc.Message = fmt.Sprintf("The process that held rank %d is gone and left no record of its end.", doc.Rank)
	})
}

// shimReserve is in the folder of a rank whose shim came as far as to set room
// aside, and has not ended.
const shimReserve = "exit.reserve"

// clear removes what is left of a rank that has ended, but for its files.
func (r *Ranks) clear(h *held) {
	if !r.remove(h) {
		return
	}
	if err := os.RemoveAll(filepath.Dir(h.Socket)); err != nil {
		r.cfg.Log.Warn("the runtime folder of a rank could not be removed", "rank", h.ref().String(), "err", err)
	}
	close(h.cleared)
}

// remove has the supervisor end and forget the rank's unit, and goes on trying:
// until it has, nobody knows that the rank is gone. It reports false when the
// daemon lets go.
func (r *Ranks) remove(h *held) bool {
	for r.ctx.Err() == nil {
		err := r.removeOnce(h, removeWithin)
		if err == nil {
			return true
		}
		if r.ctx.Err() != nil {
			return false
		}
		r.cfg.Log.Error("what is left of a rank cannot be removed", "rank", h.ref().String(), "err", err)
		r.wait(removeAgain, nil)
	}
	return false
}

func (r *Ranks) removeOnce(h *held, within time.Duration) error {
	return r.letGo(h, within, r.cfg.Supervisor.Remove)
}

// forgetter is a supervisor that need not look for what is left of a unit.
type forgetter interface {
	// Forget is Remove of a unit whose program has ended by itself and left nothing.
	Forget(ctx context.Context, label string) error
}

// forgetUnit has the supervisor forget a unit whose shim has said that all of its
// rank has ended.
func (r *Ranks) forgetUnit(h *held) error {
	if f, ok := r.cfg.Supervisor.(forgetter); ok {
		return r.letGo(h, removeSoon, f.Forget)
	}
	return r.removeOnce(h, removeSoon)
}

func (r *Ranks) letGo(h *held, within time.Duration, how func(ctx context.Context, label string) error) error {
	ctx, cancel := r.within(r.ctx, within, "the system's supervisor to remove "+h.Label)
	defer cancel()
	err := how(ctx, h.Label)
	if errors.Is(err, native.ErrNotFound) || errors.Is(err, native.ErrUnsupported) {
		return nil
	}
	return err
}
