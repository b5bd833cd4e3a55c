package input

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer/rankio"
	"fulmen/daemon/internal/rank/shim"
	"fulmen/daemon/internal/rank/shimproto"
	"fulmen/native"
)

// hearOfEnd is how long after a shim has closed the connection the rank's end may
// become known: it closes because of that end, or because it was killed.
const hearOfEnd = 2 * time.Second

// session is one connection that gives a rank input.
type session struct {
	server *Server
	rank   api.RankRef
	conn   net.Conn
	to     *rankio.Writer
	ended  <-chan struct{}

	replaced atomic.Bool // end is about to be called

	next int64 // the place of the next byte for the shim

	mu   sync.Mutex
	over bool
	beat native.Timer
}

// run carries input until either side ends. An error is for whoever gives it.
func (s *session) run(ctx context.Context, to Shim) error {
	defer s.quiet()
	s.sayBeat()
	conn, program, err := attach(ctx, shim.InputSocket(to.Socket), s.rank, to.Epoch)
	if err != nil {
		return s.unlessEnded(err)
	}
	defer program.Close()
	// Whoever was before may be in the middle of a write; the shim interrupts it.
	reply, err := program.Receive(answerWithin)
	taken, ok := reply.(shimproto.InputTaken)
	if err != nil || !ok {
		return s.unlessEnded(unanswered(s.rank, program))
	}
	s.next = taken.Bytes
	if s.to.Send(rankio.Taken{Bytes: taken.Bytes}) != nil {
		return nil
	}
	answers := make(chan struct{})
	go func() {
		defer close(answers)
		s.answer(program)
		if !s.replaced.Load() {
			_ = s.conn.Close()
		} // else end closes it, once it has said why
	}()
	defer func() {
		_ = program.Close()
		<-answers
	}()
	from := rankio.NewReader(s.conn)
	for {
		m, err := from.Next()
		if err != nil {
			return nil // the giver is gone, and the program's input goes on
		}
		given, ok := m.(rankio.Given)
		if !ok {
			continue
		}
		refusal, err := s.give(conn, given)
		if refusal != nil {
			_ = s.to.Send(rankio.Refused{Error: refusal}) // before the connection is closed with the shim's
		}
		if refusal != nil || err != nil {
			// Without the shim the giver gives to nobody. What became of the rank is said
			// by answer; where it lives, the giver comes again, and hears where to go on.
			return nil
		}
	}
}

// give passes on what the shim does not have yet. A refusal is for the giver; an
// error is of the connection to the shim.
func (s *session) give(to net.Conn, g rankio.Given) (refusal *api.Error, err error) {
	if g.Offset > s.next {
		return api.Errorf(api.ReasonInputLost, s.rank.String(), "%s has input up to %d, and the next piece begins at %d.", s.rank, s.next, g.Offset), nil
	}
	if known := s.next - g.Offset; known < int64(len(g.Data)) {
		n, err := to.Write(g.Data[known:])
		s.next += int64(n)
		if err != nil {
			return nil, err
		}
	}
	if g.End {
		_ = to.(interface{ CloseWrite() error }).CloseWrite()
	}
	return nil, nil
}

// answer tells how far the program is until the shim has no more to say.
func (s *session) answer(program *shimproto.DaemonConn) {
	var taken int64
	for {
		reply, err := program.Receive(0)
		if err != nil {
			break
		}
		switch reply := reply.(type) {
		case shimproto.InputTaken:
			taken = reply.Bytes
			if s.to.Send(rankio.Taken{Bytes: taken}) != nil {
				return
			}
		case shimproto.Status:
			_ = s.to.Send(rankio.Taken{Bytes: taken, Ended: true})
		}
	}
	if s.hasEnded(hearOfEnd) {
		_ = s.to.Send(rankio.Taken{Bytes: taken, Ended: true})
	}
}

// unlessEnded is the error, or none where the rank has ended: then its program
// wants no input, and that is what is said.
func (s *session) unlessEnded(err error) error {
	if !s.hasEnded(0) {
		return err
	}
	_ = s.to.Send(rankio.Taken{Ended: true})
	return nil
}

func (s *session) hasEnded(within time.Duration) bool {
	late := make(chan struct{})
	timer := s.server.config.Clock.AfterFunc(within, func() { close(late) })
	defer timer.Stop()
	select {
	case <-s.ended:
		return true
	default:
	}
	select {
	case <-s.ended:
		return true
	case <-late:
		return false
	}
}

// end ends the session for a reason.
func (s *session) end(why *api.Error) {
	_ = s.conn.SetWriteDeadline(time.Now().Add(answerWithin))
	_ = s.to.Send(rankio.Refused{Error: why})
	_ = s.conn.Close()
}

// sayBeat says now and then that the node is there.
func (s *session) sayBeat() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.beat = s.server.config.Clock.AfterFunc(rankio.BeatEvery, func() {
			if s.to.Send(rankio.Beat{}) == nil {
				s.sayBeat()
			}
		})
	}
}

func (s *session) quiet() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.beat.Stop()
}
