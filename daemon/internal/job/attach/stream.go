package attach

import (
	"context"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer"
	"fulmen/native"
	"fulmen/native/waker"
)

// stream is the output of one rank, as far as it has come.
type stream struct {
	attach *Attach
	ref    api.RankRef
	node   api.NodeID
	by     api.Principal
	follow bool
	// prepare wants what was printed before the program, in place of what it prints.
	prepare  bool
	push     func(api.OutputPiece) bool
	out      int64 // where to go on; negative before the first piece of a tail
	err      int64
	reported bool // that the node does not answer

	nudge waker.Waker // something about the rank has changed

	mu      sync.Mutex
	link    *link
	hurried bool          // the job has ended
	until   time.Duration // by the clock since boot: how long the rest is tried to be had, once the job has ended
	ran     bool          // the rank's document says so
	deleted bool
}

// see takes in what is known of the job and the rank.
func (s *stream) see(v view) {
	s.mu.Lock()
	defer s.mu.Unlock()
	doc := v.ranks[rankAt{s.ref, s.node}]
	s.ran = s.ran || !doc.SpawnedAt.IsZero() || doc.Exit != nil
	s.deleted = v.deleted
	if ended := v.deleted || v.job.Phase.Ended(); ended && !s.hurried {
		s.hurried, s.until = true, s.attach.config.Clock.Boot()+restWithin
		if s.link != nil {
			s.link.hurry()
		}
	}
	s.nudge.Wake()
}

func (s *stream) isHurried() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hurried
}

// isLast reports whether there is no further attempt to reach the node: whoever does
// not follow asks once, and who follows until the job is deleted, or has ended some
// time ago.
func (s *stream) isLast() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.follow || s.deleted || s.hurried && s.attach.config.Clock.Boot() >= s.until
}

// isMissing reports whether a node that does not know the rank is right: it was given
// up before it printed anything.
func (s *stream) isMissing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return (s.hurried || !s.follow) && !s.ran && s.out <= 0 && s.err <= 0
}

// run reads until there is no more, whatever happens to the way there.
func (s *stream) run(ctx context.Context) {
	for pause := time.Duration(0); ; {
		last, before := s.isLast(), s.out+s.err
		done, refusal := s.once(ctx)
		if ctx.Err() != nil {
			return
		}
		missing := refusal != nil && refusal.Data.Reason == api.ReasonNoSuchRank
		switch {
		case done || missing && s.isMissing():
			s.push(api.OutputPiece{Attempt: s.ref.Attempt, Rank: s.ref.Rank, Complete: true})
			return
		case refusal != nil && !missing && refusal.Code != api.CodeUnreachable && refusal.Code != api.CodeDeadline:
			why := refusal.Cause()
			why.Message = s.name() + ": " + why.Message
			s.notice(why)
			return
		case last:
			s.notice(s.cause(api.ReasonOutputUnreachable, "%s does not have the rest of what rank %d printed, or does not answer."))
			return
		case !missing && !s.reported:
			s.reported = true
			s.notice(s.cause(api.ReasonOutputWaits, "%s does not answer; what rank %d prints comes when it does."))
		}
		if s.out+s.err != before {
			pause = 0
		}
		if pause = longer(pause); s.isHurried() {
			pause = min(pause, againHurried)
		}
		if !native.Wait(ctx, s.attach.config.Clock, pause, s.nudge) {
			return
		}
	}
}

// name is what people call the rank's node.
func (s *stream) name() string { return s.attach.config.Name(s.node) }

// cause is a reason in words about the node and the rank.
func (s *stream) cause(reason api.Reason, format string) api.Cause {
	return api.Errorf(reason, s.ref.String(), format, s.name(), s.ref.Rank).Cause()
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
		s.reported = false
		switch m := m.(type) {
		case peer.Piece:
			if !s.piece(m) {
				return false, nil
			}
		case peer.End:
			return true, nil
		case peer.Refused:
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
func (s *stream) piece(p peer.Piece) bool {
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
