package rank

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/shimproto"
	"fulmen/daemon/internal/stall"
	"fulmen/native"
)

const (
	// attachSoon is between the first attempts to reach a shim, which takes some
	// ten milliseconds to listen, and attachLate between those after attachHasten.
	attachSoon   = 3 * time.Millisecond
	attachLate   = 100 * time.Millisecond
	attachHasten = time.Second
	// attachWithin bounds one attempt.
	attachWithin = 5 * time.Second
	// lookEvery is between two looks whether the unit still runs, while its shim
	// does not answer.
	lookEvery = 100 * time.Millisecond
	// overdueAfter is how long beyond lease and grace a shim may take before its
	// rank is ended without it.
	overdueAfter = 5 * time.Second
)

// follow follows a rank that the supervisor was asked to run until it has ended.
func (r *Ranks) follow(h *held) {
	f := following{Ranks: r, h: h}
	for {
		conn, running := f.attach()
		switch {
		case r.ctx.Err() != nil:
			if conn != nil {
				_ = conn.Close()
			}
			return
		case conn != nil:
			end, err := f.talk(shimproto.NewDaemonConn(conn))
			_ = conn.Close() // so that the shim can go
			if r.ctx.Err() != nil {
				return
			}
			if err == nil {
				// The shim first: a unit's processes are found by its label, on the whole
				// machine, and whoever hears of the end may start the next attempt's.
				if err := r.forgetUnit(h); err != nil {
					r.cfg.Log.Warn("a rank's shim stays when it has ended", "rank", h.ref().String(), "err", err)
				}
				r.concludeEnd(h, end)
				r.clear(h)
				return
			}
			f.attempts++
			r.cfg.Log.Debug("a rank's shim has to be reached again", "rank", h.ref().String(), "err", err)
		case !running:
			r.concludeGone(h)
			r.clear(h)
			return
		}
	}
}

// following is one rank's goroutine.
type following struct {
	*Ranks
	h        *held
	attempts int           // connections that ended without an end of the rank
	noticed  time.Duration // when it was seen to be over its time, on Boot; 0 = it is not
}

// attach connects to the shim, or reports that its unit does not run any more.
// Nothing announces that a shim listens, nor that one which was killed before
// is gone.
func (f *following) attach() (conn net.Conn, running bool) {
	began, looked := f.cfg.Clock.Boot(), f.cfg.Clock.Boot()
	if f.attempts > 0 {
		// The connection has just ended, most likely with the shim.
		looked -= lookEvery
	}
	for f.ctx.Err() == nil {
		now := f.cfg.Clock.Boot()
		if _, over := f.overdue(now); over {
			return nil, false
		}
		if now-looked >= lookEvery {
			looked = now
			if !f.runs() {
				return nil, false
			}
		}
		conn, err := f.reach()
		if err == nil {
			return conn, true
		}
		if !errors.Is(err, native.ErrNotFound) && f.ctx.Err() == nil {
			f.cfg.Log.Warn("a rank's shim cannot be reached", "rank", f.h.ref().String(), "err", err)
		}
		pause := attachSoon
		if now-began > attachHasten || f.attempts > 3 {
			pause = attachLate
		}
		f.wait(pause, nil)
	}
	return nil, true
}

// reach connects to the shim. Before there is a socket nothing else is asked.
func (f *following) reach() (net.Conn, error) {
	if _, err := os.Lstat(f.h.Socket); errors.Is(err, fs.ErrNotExist) {
		return nil, native.ErrNotFound
	}
	ctx, cancel := f.within(f.ctx, attachWithin, "the shim of rank "+f.h.ref().String())
	defer cancel()
	return f.cfg.Supervisor.Attach(ctx, f.h.Label)
}

// runs reports whether the supervisor has the rank's unit running; unknown counts
// as running.
func (f *following) runs() bool {
	ctx, cancel := f.within(f.ctx, attachWithin, "the system's supervisor to list its units")
	defer cancel()
	units, err := f.cfg.Supervisor.List(ctx, f.h.Label)
	for _, u := range units {
		if u.Label == f.h.Label {
			return u.State == native.UnitRunning
		}
	}
	return err != nil
}

// overdue tells when to look again at a rank that may outstay its lease or its
// grace, and whether it has: its shim should have ended it, and hangs.
func (f *following) overdue(now time.Duration) (again time.Duration, over bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	end, grace := f.h.lease, api.Seconds(f.h.GraceS)
	if o := f.h.order; o != nil && (end == 0 || o.killAt < end+grace) {
		end, grace = o.killAt, 0
	}
	switch {
	case end == 0: // the shim has not told the lease yet
		end = now
		fallthrough
	case now >= end:
		// From now: after a sleep the shim notices as late as this daemon.
		if f.noticed == 0 {
			f.noticed = now
		}
		left := f.noticed + grace + overdueAfter - now
		return left, left <= 0
	}
	f.noticed = 0
	return end - now, false
}

// errSilent is a shim that closed its connection or sent nonsense.
var errSilent = errors.New("the connection ended before the rank")

// talk speaks with the shim until the rank has ended, or the connection has.
func (f *following) talk(conn *shimproto.DaemonConn) (shimproto.ExitRecord, error) {
	t := talk{following: f, conn: conn}
	replies := make(chan shimproto.Reply)
	f.work.Go(func() {
		defer close(replies)
		for {
			reply, err := conn.Receive(0)
			if bad, ok := errors.AsType[*shimproto.ReadError](err); ok {
				f.cfg.Log.Warn("a shim says what cannot be understood", "rank", f.h.ref().String(), "err", bad.Err)
				continue
			}
			if err != nil {
				return
			}
			select {
			case replies <- reply:
			case <-f.ctx.Done():
				return
			}
		}
	})
	defer func() {
		_ = conn.Close()
		for range replies { // until the reader has ended
		}
	}()
	if err := t.hello(); err != nil {
		return shimproto.ExitRecord{}, err
	}
	asks, looks := f.cfg.Clock.Boot()+askEvery, f.cfg.Clock.Boot()
	for {
		if err := t.notify(); err != nil {
			return shimproto.ExitRecord{}, err
		}
		if now := f.cfg.Clock.Boot(); now >= asks {
			asks = now + askEvery
			if err := t.ask(); err != nil {
				return shimproto.ExitRecord{}, err
			}
		}
		if now := f.cfg.Clock.Boot(); now >= looks {
			looks = now + stall.Every
			f.look(f.h)
		}
		again, over := f.overdue(f.cfg.Clock.Boot())
		if over {
			f.cfg.Log.Error("a rank outlives its time, and its shim does not end it", "rank", f.h.ref().String())
			return shimproto.ExitRecord{}, errSilent // attach sees the same
		}
		woken := make(chan struct{})
		timer := f.cfg.Clock.AfterFunc(min(again, max(0, min(asks, looks)-f.cfg.Clock.Boot())), func() { close(woken) })
		select {
		case reply, ok := <-replies:
			timer.Stop()
			if !ok {
				return shimproto.ExitRecord{}, errSilent
			}
			if exit, ok := reply.(shimproto.Exit); ok {
				return exit.Record, nil
			}
			if err := t.receive(reply); err != nil {
				return shimproto.ExitRecord{}, err
			}
		case <-f.h.wake:
			timer.Stop()
		case <-woken:
		case <-f.ctx.Done():
			timer.Stop()
			return shimproto.ExitRecord{}, f.ctx.Err()
		}
	}
}

func (r *Ranks) epoch(job api.JobID) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fenceLocked(job).Epoch
}
