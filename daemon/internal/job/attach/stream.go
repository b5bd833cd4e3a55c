package attach

import (
	"context"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer/rankio"
)

// stream is the output of one rank, as far as it has come.
type stream struct {
	attach *Attach
	ref    api.RankRef
	node   api.NodeID
	by     api.Principal
	follow bool
	// prepare wants what was printed before the program, in place of what it prints.
	prepare bool
	push    func(api.OutputPiece) bool
	out     int64 // where to go on; negative before the first piece of a tail
	err     int64
	told    bool // that the node does not answer

	nudge chan struct{} // something about the rank has changed

	mu      sync.Mutex
	link    *link
	hurried bool
}

// hurry is told that the rank has ended.
func (s *stream) hurry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hurried = true
	if s.link != nil {
		s.link.hurry()
	}
	s.wake()
}

func (s *stream) wake() {
	select {
	case s.nudge <- struct{}{}:
	default:
	}
}

func (s *stream) isHurried() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hurried
}

// run reads until there is no more, whatever happens to the way there.
func (s *stream) run(ctx context.Context) {
	for pause := time.Duration(0); ; {
		last := s.isHurried() || !s.follow // no further attempt after this one
		before := s.out + s.err
		done, refusal := s.once(ctx)
		if done || ctx.Err() != nil {
			return
		}
		missing := refusal != nil && refusal.Data.Reason == api.ReasonNoSuchRank
		switch {
		case missing && last:
			return // it was given up before it printed anything
		case refusal != nil && !missing && refusal.Code != api.CodeUnreachable && refusal.Code != api.CodeDeadline:
			s.notice(refusal.Cause())
			return
		case last:
			s.notice(s.cause(api.ReasonOutputUnreachable))
			return
		case !missing && !s.told:
			s.told = true
			s.notice(s.cause(api.ReasonOutputWaits))
		}
		if s.out+s.err != before {
			pause = 0
		}
		pause = longer(pause)
		if !s.attach.pause(ctx, pause, s.nudge) {
			return
		}
	}
}

// cause is a reason for the rank and its node.
func (s *stream) cause(reason api.Reason) api.Cause {
	return api.NewError(reason, s.ref.String()+" at "+s.node.Display()).Cause()
}

func (s *stream) notice(why api.Cause) {
	s.push(api.OutputPiece{Attempt: s.ref.Attempt, Rank: s.ref.Rank, Notice: &why})
}

// once reads over one connection, and reports whether everything has come. The
// error is the other side's, or about the way there.
func (s *stream) once(ctx context.Context) (done bool, refusal *api.Error) {
	l, err := s.attach.open(ctx, s.node, api.PeerConn{
		Carries: api.ConnOutput, Rank: s.ref, Output: &api.PeerOutput{By: s.by, OutBytes: s.out, ErrBytes: s.err, Follow: s.follow, Prepare: s.prepare},
	})
	if err != nil {
		return false, nil
	}
	defer l.conn.Close()
	defer l.closeWith(ctx)()
	if s.set(l); s.isHurried() {
		l.hurry()
	}
	defer s.set(nil)
	for {
		m, err := l.next()
		if err != nil {
			return false, nil
		}
		s.told = false
		switch m := m.(type) {
		case rankio.Piece:
			if !s.piece(m) {
				return false, nil
			}
		case rankio.End:
			return true, nil
		case rankio.Refused:
			return false, m.Error
		}
	}
}

func (s *stream) set(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.link = l
}

// piece hands on a copy: the message's memory is used again.
func (s *stream) piece(p rankio.Piece) bool {
	next := p.Offset + int64(len(p.Data))
	if p.Stream == api.StreamErr {
		s.err = next
	} else {
		s.out = next
	}
	return s.push(api.OutputPiece{
		Attempt: s.ref.Attempt, Rank: s.ref.Rank, Stream: p.Stream,
		OffsetBytes: p.Offset, SkippedBytes: p.Skipped, Data: append([]byte(nil), p.Data...),
	})
}
