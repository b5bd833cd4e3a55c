package rank

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/prepare"
	"fulmen/daemon/internal/stall"
)

// progress is what this node sees of a rank that runs.
type progress struct {
	meter stall.Meter
	debts []*debt // the oldest first

	beat   int64         // of the heartbeat, when it was touched last
	beatAt time.Duration // when that was first seen, on Boot

	wantsStack bool // its home asks
	looking    bool
	stack      stall.Stack
}

// debt is something that a rank owes to somebody, since then, on Boot.
type debt struct {
	what  api.RankDebt
	since time.Duration
}

// stackWithin bounds a look at the stacks of a rank.
const stackWithin = 5 * time.Second

// Owe notes that a rank owes something, until it is paid. One that is not here owes nothing.
func (r *Ranks) Owe(ref api.RankRef, what api.RankDebt) (paid func()) {
	one := &debt{what, r.cfg.Clock.Boot()}
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.held[ref]
	if h == nil {
		return func() {}
	}
	h.progress.debts = append(h.progress.debts, one)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		h.progress.debts = slices.DeleteFunc(h.progress.debts, func(d *debt) bool { return d == one })
	}
}

// look reads what a rank that runs has done. What cannot be read is not known.
func (r *Ranks) look(h *held) {
	r.mu.Lock()
	doc, ports := h.Doc, h.Plan.PortNumbers
	r.mu.Unlock()
	if r.cfg.Activity == nil || doc.PID == 0 || doc.Phase != api.RankRunning && doc.Phase != api.RankHandshake {
		return
	}
	did, err := r.cfg.Activity(doc.PID)
	if err != nil {
		return
	}
	reading := stall.Reading{Activity: did, At: r.cfg.Clock.Boot(), GPU: -1}
	if r.cfg.GPUUse != nil {
		if share, err := r.cfg.GPUUse(); err == nil {
			reading.GPU = share
		}
	}
	reading.Carried, _ = r.carriedBy(ports)
	if doc.Handshake != nil {
		reading.Carried += uint64(doc.Handshake.CarriedBytes)
	}
	if h.HeartbeatS > 0 {
		if info, err := os.Lstat(filepath.Join(filepath.Dir(h.Socket), beatFile)); err == nil {
			reading.Beat = max(0, info.ModTime().UnixNano())
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &h.progress
	reading.Printed, reading.Stack = h.printed, p.stack
	if reading.Beat != p.beat {
		p.beat, p.beatAt = reading.Beat, reading.At
	}
	if late := reading.At - p.beatAt - api.Seconds(h.HeartbeatS); p.beat != 0 && late > 0 {
		reading.Owes, reading.OwesFor = api.DebtHeartbeat, late
	}
	if len(p.debts) > 0 && reading.At-p.debts[0].since > reading.OwesFor {
		reading.Owes, reading.OwesFor = p.debts[0].what, reading.At-p.debts[0].since
	}
	p.meter.Polls, p.meter.Alone = len(ports) > 0 || doc.Handshake != nil, h.Alone
	if p.meter.Take(reading); p.meter.Quiet() < stall.Every {
		p.stack = ""
	}
	if p.wantsStack && !p.looking && r.cfg.Stacks != nil {
		p.wantsStack, p.looking = false, true
		r.work.Go(func() { r.lookAtStacks(h, doc.PID) })
	}
}

// lookAtStacks has a child look whether a rank is inside a collective.
func (r *Ranks) lookAtStacks(h *held, process int) {
	ctx, cancel := r.within(r.ctx, stackWithin, "the stacks of rank "+h.ref().String())
	defer cancel()
	text, err := r.cfg.Stacks(ctx, process)
	if err != nil && context.Cause(r.ctx) == nil {
		r.cfg.Log.Warn("the stacks of a rank could not be looked at", "rank", h.ref().String(), "err", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	h.progress.looking = false
	if err == nil {
		h.progress.stack = stall.StackOf(text)
	}
}

// makeHeartbeat makes the file that an account's program touches. Until then it is as old as
// can be.
func makeHeartbeat(account prepare.Account, path string) error {
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return err
	}
	if err := os.Chtimes(path, time.Unix(0, 0), time.Unix(0, 0)); err != nil {
		return err
	}
	return giveTo(account, path)
}
