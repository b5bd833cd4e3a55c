package attach

import (
	"context"
	"errors"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer/rankio"
	"fulmen/native/waker"
)

// feeder gives one rank its input.
type feeder struct {
	feed   *feed
	at     rankAt
	cancel context.CancelFunc
	nudge  waker.Waker
}

func (f *feed) begin(at rankAt) *feeder {
	ctx, cancel := context.WithCancel(f.ctx)
	r := &feeder{feed: f, at: at, cancel: cancel, nudge: waker.New()}
	go r.run(ctx)
	return r
}

// errDone is a rank that wants no more.
var errDone = errors.New("the rank wants no more input")

// run feeds the rank over one connection after the other.
func (r *feeder) run(ctx context.Context) {
	defer r.cancel()
	for pause := time.Duration(0); ; {
		worked, err := r.once(ctx)
		if ctx.Err() != nil || errors.Is(err, errDone) {
			return
		}
		if worked {
			pause = 0
		}
		pause = longer(pause)
		if !r.feed.attach.pause(ctx, pause, r.nudge) {
			return
		}
	}
}

// once feeds the rank over one connection, and reports whether that was taken.
func (r *feeder) once(ctx context.Context) (worked bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l, err := r.feed.attach.open(ctx, r.at.node, api.PeerConn{
		Carries: api.ConnInput, Rank: r.at.ref, Input: &api.PeerInput{By: r.feed.giver()},
	})
	if err != nil {
		return false, err
	}
	defer l.conn.Close()
	defer l.closeWith(ctx)()
	writing := false
	for {
		m, err := l.next()
		if err != nil {
			return writing, err
		}
		switch m := m.(type) {
		case rankio.Taken:
			if m.Ended {
				r.feed.leave(r.at.ref)
				return true, errDone
			}
			if !r.feed.taken(r.at.ref, m.Bytes) {
				return true, errDone
			}
			if !writing {
				writing = true
				done := make(chan struct{})
				go func() {
					defer close(done)
					r.write(ctx, l, m.Bytes)
				}()
				defer func() {
					cancel()
					_ = l.conn.Close()
					<-done
				}()
			}
		case rankio.Refused:
			return writing, r.refused(m.Error)
		}
	}
}

// refused decides what a refusal means.
func (r *feeder) refused(why *api.Error) error {
	switch why.Data.Reason {
	case api.ReasonInputLost:
		r.feed.lose(r.at.ref)
		return errDone
	case api.ReasonInputElsewhere:
		r.feed.refuse(why) // a client of another node gives it, until one here takes it back
		return errDone
	case api.ReasonUnreachable, api.ReasonNoSuchRank:
		return why // it may come yet, or its end become known
	}
	r.feed.fail(why)
	return errDone
}

// write sends what there is from a place on, and what comes.
func (r *feeder) write(ctx context.Context, l *link, at int64) {
	buffer := make([]byte, rankio.MaxPiece)
	for {
		n, end, changed := r.feed.from(at, buffer)
		if n > 0 || end {
			if l.to.Send(rankio.Given{Offset: at, Data: buffer[:n], End: end}) != nil {
				return
			}
			at += int64(n)
			if end {
				return
			}
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (f *feed) giver() api.Principal {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.by
}

// from copies input from a place on, and says whether it ends after it; if
// neither, there is something to wait for.
func (f *feed) from(at int64, buffer []byte) (n int, end bool, changed <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if skip := at - f.start; f.begun && skip >= 0 && skip <= int64(len(f.kept)) {
		n = copy(buffer, f.kept[skip:])
		end = f.ended && int(skip)+n == len(f.kept)
	}
	return n, end, f.changed
}

// taken notes how far a rank is. It reports false where that is before what is
// kept: the rank cannot be fed.
func (f *feed) taken(ref api.RankRef, bytes int64) bool {
	f.mu.Lock()
	if lost := f.begun && bytes < f.start; lost {
		f.mu.Unlock()
		f.lose(ref)
		return false
	}
	defer f.mu.Unlock()
	if was, ok := f.takers[ref]; ok && bytes > was {
		f.takers[ref] = bytes
		f.tell()
	}
	return true
}
