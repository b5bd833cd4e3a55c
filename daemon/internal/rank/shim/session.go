package shim

import (
	"errors"
	"net"
	"os"
	"syscall"
	"time"

	"fulmen/daemon/internal/rank/shimproto"
)

const (
	// sendWithin is how long a daemon may take to read a message.
	sendWithin = 5 * time.Second
	// backlog is how many messages may wait for a daemon that does not read.
	backlog = 64
	// acceptAgain is how long after a failure, such as too many open files, the
	// next connection is taken.
	acceptAgain = 100 * time.Millisecond
)

// session is one daemon's connection. Its fields belong to the goroutine of loop.
type session struct {
	conn     *shimproto.ShimConn
	out      chan shimproto.Reply // closed when the session is over
	greeted  bool
	reported bool // of the end
	closed   bool
}

// accept serves whoever connects until the listener is closed.
func (s *shim) accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			s.do(func() { s.logf("accept: %v", err) })
			time.Sleep(acceptAgain)
			continue
		}
		s.do(func() { s.open(conn) })
	}
}

func (s *shim) open(conn net.Conn) {
	session := &session{conn: shimproto.NewShimConn(conn), out: make(chan shimproto.Reply, backlog)}
	s.sessions[session] = struct{}{}
	go func() {
		for reply := range session.out {
			if session.conn.Send(reply, sendWithin) != nil {
				break
			}
		}
		_ = session.conn.Close()
		for range session.out { // nobody waits for a session that is over
		}
	}()
	go func() {
		for {
			request, err := session.conn.Receive(0)
			bad, ok := errors.AsType[*shimproto.ReadError](err)
			if err != nil && !ok {
				s.do(func() { s.close(session) })
				return
			}
			s.do(func() {
				if err != nil {
					session.send(s, *s.fence.RefuseLine(bad.Line, bad.Err))
				} else {
					s.answer(session, request)
				}
			})
		}
	}()
}

func (s *shim) close(c *session) {
	if c.closed {
		return
	}
	c.closed = true
	close(c.out)
	delete(s.sessions, c)
	if s.latest == c {
		s.latest = nil
	}
	if s.phase == shimproto.PhaseExited && len(s.sessions) == 0 {
		s.finished = true
	}
}

// send queues a message. A daemon that reads nothing is let go; it can attach
// again.
func (c *session) send(s *shim, reply shimproto.Reply) {
	if c.closed {
		return
	}
	select {
	case c.out <- reply:
	default:
		s.close(c)
	}
}

func (c *session) sendExit(s *shim) {
	if !c.greeted || c.reported {
		return
	}
	c.reported = true
	c.send(s, shimproto.Exit{Record: s.record})
}

// answer does what a daemon asks.
func (s *shim) answer(c *session, request shimproto.Request) {
	if refusal := s.fence.Admit(request, c.greeted); refusal != nil {
		c.send(s, *refusal)
		return
	}
	switch r := request.(type) {
	case shimproto.Hello:
		c.greeted, s.latest = true, c
		c.send(s, s.greeting(r))
		if s.phase == shimproto.PhaseExited {
			c.sendExit(s)
		}
		return
	case shimproto.Renew:
		// What a daemon that is gone has left in its connection may be read after what
		// the next one says.
		if s.latest == c || s.latest == nil {
			s.renew(r.LeaseS)
		}
	case shimproto.Resize:
		s.resize(r.Terminal)
	case shimproto.Probe:
		s.probe(c, r)
		return
	case shimproto.Stop:
		s.stop(r.Epoch, r.GraceS, r.Cause)
	}
	c.send(s, s.status(request.Header().ID))
}

// resize gives the program's terminal a size; there may be none, or none any more.
func (s *shim) resize(size shimproto.Terminal) {
	if t := s.terminal; t != nil && !s.finishing {
		if err := t.resize(size); err != nil {
			s.logf("resize: %v", err)
		}
	}
}

// greeting answers a hello that was admitted, so that the versions have one in
// common.
func (s *shim) greeting(hello shimproto.Hello) shimproto.Greeting {
	own := shimproto.OwnVersions()
	speaks, _ := own.Negotiate(hello.Versions)
	return shimproto.Greeting{
		Re: hello.ID, Epoch: s.fence.Epoch(), Ref: s.spec.Ref, Speaks: speaks, Versions: own, PID: os.Getpid(), Phase: s.phase,
	}
}

func (s *shim) status(re uint64) shimproto.Status {
	status := shimproto.Status{
		Re: re, Epoch: s.fence.Epoch(), Phase: s.phase, PID: s.record.PID,
		LeaseLeftS: max(0, (s.leaseEnd - s.clock.Boot()).Seconds()), Logs: s.logEnds(),
		Stopped: s.stopped, GuardStopped: s.guard.stopped,
	}
	if s.phase == shimproto.PhaseEnding || s.phase == shimproto.PhaseExited {
		status.Cause, status.Code, status.Signal, status.OutOfMemory = s.record.Cause, s.record.Code, s.record.Signal, s.record.OutOfMemory
	}
	return status
}

// announce tells every daemon of a new phase.
func (s *shim) announce() {
	for session := range s.sessions {
		if session.greeted {
			session.send(s, s.status(0))
		}
	}
}

// family finds and ends what the program has started.
type family struct {
	program int
	except  []int // the shim's own helpers
}

// signal sends to the program's group; the program must not have been reaped.
func (f family) signal(s syscall.Signal) { _ = syscall.Kill(-f.program, s) }
