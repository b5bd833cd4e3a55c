package input

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/rank/shim"
	"fulmen/daemon/internal/rank/shimproto"
	"fulmen/native"
)

// endKnownWithin is how long after a shim has closed the connection the rank's end may
// become known: it closes because of that end, or because it was killed.
const endKnownWithin = 2 * time.Second

// session is one connection that gives a rank input.
type session struct {
	server *Server
	rank   api.RankRef
	conn   net.Conn
	to     *peer.Writer
	ended  <-chan struct{}

	replaced atomic.Bool // end is about to be called

	next int64 // the place of the next byte for the shim

	mu   sync.Mutex
	over bool
	beat native.Timer
}

// run carries input until either side ends. An error is for whoever gives it.
func (s *session) run(ctx context.Context, socket string, epoch uint64) error {
	defer s.quiet()
	s.reportBeat()
	conn, program, err := attach(ctx, shim.InputSocket(socket), s.rank, epoch)
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
	if s.to.Send(peer.Taken{Bytes: taken.Bytes}) != nil {
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
	from := peer.NewReader(s.conn)
	for {
		m, err := from.Next()
		if err != nil {
			return nil // the giver is gone, and the program's input goes on
		}
		given, ok := m.(peer.Given)
		if !ok {
			continue
		}
		refusal, err := s.give(conn, given)
		if refusal != nil {
			_ = s.to.Send(peer.Refused{Error: refusal}) // before the connection is closed with the shim's
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
func (s *session) give(to net.Conn, g peer.Given) (refusal *api.Error, err error) {
	if g.Offset > s.next {
		return api.Errorf(api.ReasonInputLost, s.rank.String(), "A piece of the input of %s is missing: it has %d bytes, and the next piece begins at byte %d.", s.rank, s.next, g.Offset), nil
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
			if s.to.Send(peer.Taken{Bytes: taken}) != nil {
				return
			}
		case shimproto.Status:
			_ = s.to.Send(peer.Taken{Bytes: taken, Ended: true})
		}
	}
	if s.hasEnded(endKnownWithin) {
		_ = s.to.Send(peer.Taken{Bytes: taken, Ended: true})
	}
}

// unlessEnded is the error, or none where the rank has ended: then its program
// wants no input, and that is what is said.
func (s *session) unlessEnded(err error) error {
	if !s.hasEnded(0) {
		return err
	}
	_ = s.to.Send(peer.Taken{Ended: true})
	return nil
}

func (s *session) hasEnded(within time.Duration) bool {
	native.Wait(context.Background(), s.server.config.Clock, within, s.ended)
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// end ends the session for a reason.
func (s *session) end(why *api.Error) {
	_ = s.conn.SetWriteDeadline(time.Now().Add(answerWithin))
	_ = s.to.Send(peer.Refused{Error: why})
	_ = s.conn.Close()
}

// reportBeat says now and then that the node is there.
func (s *session) reportBeat() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.beat = s.server.config.Clock.AfterFunc(peer.BeatEvery, func() {
			if s.to.Send(peer.Beat{}) == nil {
				s.reportBeat()
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
