package rank

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/rank/shimproto"
)

// replyWithin is how long a shim may take to read a message.
const replyWithin = 5 * time.Second

// talk is one connection to a shim.
type talk struct {
	*following
	conn  *shimproto.DaemonConn
	n     uint64
	lease time.Duration // told to the shim, on Boot
	order *order        // told to the shim
	asked int           // questions since it said anything
}

// header numbers a request. It carries the highest epoch of the job that is
// known: the shim refuses lower ones from then on.
func (t *talk) header() shimproto.RequestHeader {
	t.n++
	return shimproto.RequestHeader{ID: t.n, Epoch: int64(t.epoch(t.h.Doc.Job))}
}

func (t *talk) send(request shimproto.Request) error { return t.conn.Send(request, replyWithin) }

// hello greets the shim and asks how the rank is, without waiting in between.
func (t *talk) hello() error {
	t.mu.Lock()
	for _, p := range t.h.probes { // whose answer went with the connection before
		p.re = 0
	}
	t.mu.Unlock()
	err := t.send(shimproto.Hello{RequestHeader: t.header(), Ref: shimRef(t.h.ref()), Versions: shimproto.OwnVersions(), PID: os.Getpid()})
	if err != nil {
		return err
	}
	return t.send(shimproto.Query{RequestHeader: t.header()})
}

// notify passes on what is wanted of the rank and was not told yet.
func (t *talk) notify() error {
	t.mu.Lock()
	lease, o, now := t.h.lease, t.h.order, t.cfg.Clock.Boot()
	unsaved := t.h.unsaved
	t.h.unsaved = false
	probes := t.newProbesLocked()
	t.mu.Unlock()
	for _, request := range probes {
		if err := t.send(request); err != nil {
			return err
		}
	}
	if unsaved {
		t.keep()
	}
	if o != nil && (t.order == nil || o.killAt < t.order.killAt) {
		t.order = o
		stop := shimproto.Stop{RequestHeader: t.header(), GraceS: max(0, o.killAt-now).Seconds(), Cause: o.cause}
		if err := t.send(stop); err != nil {
			return err
		}
	}
	if lease != t.lease && lease > now { // the configuration may have made it shorter
		t.lease = lease
		return t.send(shimproto.Renew{RequestHeader: t.header(), LeaseS: (lease - now).Seconds()})
	}
	return nil
}

// A shim is asked how its rank is every askEvery, whatever it says by itself, and one that
// has left so many questions unanswered does not answer. They are counted rather than the
// time, in which this daemon may not have run.
const (
	askEvery   = 3 * time.Second
	unanswered = 2
)

// ask asks how the rank is, and notes when nobody answers.
func (t *talk) ask() error {
	if t.asked == unanswered {
		t.note(api.ReasonShimSilent, "The process that holds rank %d does not answer: it may be stopped.")
	}
	t.asked++
	return t.send(shimproto.Query{RequestHeader: t.header()})
}

// note says what is wrong with a rank that lives on, or, with "", that nothing is. Why it
// is being ended counts more.
func (t *talk) note(reason api.Reason, format string, more ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	doc, message := &t.h.Doc, ""
	if reason != "" {
		message = fmt.Sprintf(format, append([]any{doc.Rank}, more...)...)
	}
	if doc.Phase.Ended() || doc.Exit != nil || doc.Phase == api.RankEnding && t.h.order != nil || doc.Message == message {
		return
	}
	doc.Reason, doc.Message = reason, message
	t.reportLocked(t.h.ref())
}

// receive takes in what the shim says.
func (t *talk) receive(reply shimproto.Reply) error {
	t.asked = 0
	switch m := reply.(type) {
	case shimproto.Greeting:
		t.learn(uint64(m.Epoch))
	case shimproto.Status:
		t.learn(uint64(m.Epoch))
		t.status(m)
	case shimproto.Probed:
		t.probed(m)
	case shimproto.Refusal:
		if m.Reason == shimproto.RefuseStaleEpoch && uint64(m.Epoch) > t.epoch(t.h.Doc.Job) {
			// This daemon forgot a newer home when it was restarted; nobody of the
			// former one is served from here on.
			t.learn(uint64(m.Epoch))
			return t.hello()
		}
		if t.probed(shimproto.Probed{Re: m.Re, NotStarted: &shimproto.Cause{Reason: string(m.Reason), Message: m.Message}}) {
			return nil
		}
		return fmt.Errorf("the shim refuses: %w", m)
	}
	return nil
}

// learn notes an epoch of the job that the shim has heard of.
func (t *talk) learn(epoch uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.fenceLocked(t.h.Doc.Job)
	f.Epoch = max(f.Epoch, epoch)
}

// status moves the rank's document on.
func (t *talk) status(m shimproto.Status) {
	spawned := false
	if m.Code != nil || m.Signal != "" {
		t.settle(t.h)
	}
	t.mu.Lock()
	doc := &t.h.Doc
	t.h.printed = 0
	for _, l := range m.Logs {
		t.h.printed += l.WrittenBytes
	}
	if t.h.lease == 0 {
		t.h.lease = t.cfg.Clock.Boot() + api.Seconds(m.LeaseLeftS)
		t.lease = t.h.lease
	}
	was := doc.Phase
	if m.PID != 0 && doc.PID == 0 {
		doc.PID, doc.SpawnedAt = m.PID, t.now()
	}
	spawned, t.h.reported = m.PID != 0 && !t.h.reported, t.h.reported || m.PID != 0
	switch {
	case m.Phase == shimproto.PhaseRunning && joining(doc):
		if was.May(api.RankHandshake) {
			t.enterLocked(t.h, api.RankHandshake, "", "")
		}
	case m.Phase == shimproto.PhaseRunning && was.May(api.RankRunning):
		t.enterLocked(t.h, api.RankRunning, "", "")
	case m.Phase == shimproto.PhaseEnding && was.May(api.RankEnding):
		var why shimproto.Cause
		if m.Cause != nil {
			why = *m.Cause
		}
		reason, message := api.Reason(why.Reason), why.Message
		if m.Code != nil || m.Signal != "" {
			// The home need not wait for the record of the end to end the others.
			end := shimproto.ExitRecord{Cause: m.Cause, Code: m.Code, Signal: m.Signal, OutOfMemory: m.OutOfMemory}
			reason, message = whyEnded(doc.Rank, end)
			doc.Exit, doc.EndedAt = &api.Exit{Code: m.Code, Signal: int(unix.SignalNum(m.Signal)), OutOfMemory: m.OutOfMemory}, t.now()
		}
		t.enterLocked(t.h, api.RankEnding, reason, message)
	}
	moved, isEnding := doc.Phase != was, doc.Phase == api.RankEnding
	t.mu.Unlock()
	t.notifyLost(t.h.ref(), m.Logs)
	switch {
	case isEnding: // that has a reason of its own
	case m.Stopped != "":
		t.note(api.ReasonRankStopped, "Rank %d is stopped by %s, and goes on at SIGCONT.", m.Stopped)
	case m.GuardStopped != "":
		t.note(api.ReasonRankStopped, "The guard of rank %d is stopped by %s: nothing ends the rank should the process that holds it be killed.", m.GuardStopped)
	default:
		t.note("", "")
	}
	if spawned {
		t.keep() // for a daemon that finds neither program nor record of its end
		t.cfg.Spawned(t.h.ref())
	}
	if moved {
		t.cfg.Changed()
	}
}

// keep writes the rank's record.
func (t *talk) keep() {
	if err := t.save(t.h); err != nil {
		t.cfg.Log.Error("a rank's record could not be kept", "rank", t.h.ref().String(), "err", err)
	}
}

// serve answers the calls of a job's home through a door, as soon as the ranks that a
// previous daemon left are known.
func serve[P gate.Claimer](r *Ranks, d gate.HomeRoute, do func(ctx context.Context, home gate.Home, params P) (any, error)) {
	r.cfg.Peers.HandleCall(gate.HandleHome(d, func(ctx context.Context, home gate.Home, params P) (any, error) {
		select {
		case <-r.ready:
		case <-r.ctx.Done():
			return nil, api.NewError(api.ReasonStopping, string(r.cfg.Node))
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return do(ctx, home, params)
	}))
}

// checkCall refuses numbers that cannot be.
func checkCall(job api.JobID, attempt int, epoch uint64) error {
	ref := api.RankRef{Job: job, Attempt: attempt}
	switch {
	case !ref.Valid():
		return api.NewError(api.ReasonMalformedID, ref.String())
	case epoch == 0 || epoch > maxEpoch:
		return api.Errorf(api.ReasonBadValue, "epoch", "The epoch %d is not from 1 to %d.", epoch, uint64(maxEpoch))
	}
	return nil
}

// maxEpoch is the highest epoch that a shim can hold.
const maxEpoch = 1<<53 - 1

// checkLease refuses a lease that no shim takes.
func checkLease(seconds float64) error {
	const most = 24 * 60 * 60
	if !(seconds > 0 && seconds <= most) {
		return api.Errorf(api.ReasonBadValue, "lease_s", "A lease of %g s is not from above 0 to %d s.", seconds, most)
	}
	return nil
}
