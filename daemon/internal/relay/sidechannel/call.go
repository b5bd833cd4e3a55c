package sidechannel

import (
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

// acceptAgain is how long a listener rests that has no descriptor for a connection.
const acceptAgain = 100 * time.Millisecond

// listen takes the connections to the rank's port until that is closed. It begins when
// it is known which process is the rank's: whose a connection is has to be looked up at
// once, since a rank whose group fails ends within milliseconds, and then nobody has it.
func (l *leaf) listen() {
	select {
	case <-l.spawned:
	case <-l.ctx.Done():
		return
	}
	for {
		conn, err := l.listener.Accept()
		if err != nil {
			if out := errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE); out && native.Pause(l.ctx, l.c.cfg.Clock, acceptAgain) {
				continue
			}
			if !errors.Is(err, syscall.ECONNABORTED) {
				return
			}
			continue
		}
		if err := l.isOwn(conn); err != nil {
			l.drop(conn, err)
			continue
		}
		l.mu.Lock()
		full := l.calling >= maxCalling || l.over
		if !full {
			l.calling++
			l.work.Add(1)
		}
		l.mu.Unlock()
		if full {
			reset(conn)
			continue
		}
		go func() {
			defer l.work.Done()
			l.take(conn)
		}()
	}
}

// isOwn gives why a connection is not of a process of the rank's group.
func (l *leaf) isOwn(conn net.Conn) error {
	near, isTCP := conn.RemoteAddr().(*net.TCPAddr)
	far, isTCP2 := conn.LocalAddr().(*net.TCPAddr)
	if !isTCP || !isTCP2 {
		return errors.New("it is not a TCP connection")
	}
	own, err := l.c.cfg.Machine.Holds(l.c.cfg.Group(l.ch.Rank), near.AddrPort(), far.AddrPort())
	if err == nil && !own {
		err = errors.New("it was not made by a process of the rank")
	}
	return err
}

// drop ends a connection that is not the rank's.
func (l *leaf) drop(conn net.Conn, why error) {
	l.c.cfg.Log.Warn("a connection to a rank's side channel was dropped", "rank", l.ch.Rank.String(), "err", why)
	reset(conn)
}

// take serves one connection of the rank's program.
func (l *leaf) take(conn net.Conn) {
	stop := onDone(l.ctx, conn)
	defer stop()
	number, err := l.admit(conn)
	who := &caller{conn: conn, out: newOutbox(), held: number}
	l.mu.Lock()
	l.calling--
	if err == nil {
		switch {
		case l.caller != nil || l.through:
			err = errors.New("the rank has connected before")
		case l.over || !l.carryLocked(len(number), true):
			err = errors.New("the channel is closed")
		default:
			l.caller, l.state = who, api.HandshakeHeld
			l.callInLocked()
		}
	}
	l.mu.Unlock()
	if err != nil {
		l.drop(conn, err)
		return
	}
	l.notify()
	l.work.Go(func() {
		who.out.drain(conn)
		conn.Close()
	})
	l.receive(who)
	l.mu.Lock()
	if who.passed {
		close(l.spoken)
	}
	l.mu.Unlock()
	who.out.close()
	conn.Close()
}

// admit checks that what a connection of the rank's program says first is the rank's
// number. The program may take its time, as one does that a signal has stopped: the group
// waits for it, and says so.
func (l *leaf) admit(conn net.Conn) (number []byte, err error) {
	ref := l.ch.Rank
	late := l.c.cfg.Clock.AfterFunc(numberWithin, func() {
		if l.hasCaller() {
			conn.Close()
		}
	})
	defer late.Stop()
	number = make([]byte, numberBytes)
	if _, err := io.ReadFull(conn, number); err != nil {
		return nil, err
	}
	if rank, _ := numberOf(number); rank != ref.Rank {
		l.fail(api.Errorf(api.ReasonWrongRankNumber, ref.String(), "The program of rank %d says on its side channel that it is rank %d.", ref.Rank, rank))
		return nil, errors.New("it gives the number of another rank")
	}
	return number, nil
}

// hasCaller reports whether the rank has said its number on another connection.
func (l *leaf) hasCaller() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.caller != nil || l.through
}

// receive reads what the rank's program says until it ends.
func (l *leaf) receive(who *caller) {
	buffer := make([]byte, maxData)
	for {
		n, err := who.conn.Read(buffer)
		if n > 0 {
			l.reported(who, buffer[:n])
		}
		if err != nil {
			break
		}
	}
	l.mu.Lock()
	current := l.caller == who
	if current {
		l.caller = nil
		l.flow.stop()
		if !l.through {
			// It was held and is dead: whoever takes its place is as good.
			l.state = api.HandshakeNone
			l.flow.gather = gather{size: l.flow.size}
			if l.out != nil {
				l.out.frame(frameGone, nil)
			}
		}
	}
	l.mu.Unlock()
	if !current {
		return
	}
	l.notify()
	if !who.passed { // settled: it is nobody's any more
		return
	}
	native.Pause(l.ending, l.c.cfg.Clock, severAfter)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out != nil {
		l.out.frame(frameEnd, nil)
	}
}

// severAfter is how long the end of a program's side channel is kept from the
// others, unless its rank is known to have ended before: what they complain of is
// then told after its cause.
const severAfter = time.Second

func (l *leaf) reported(who *caller, data []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.caller != who || !l.carryLocked(len(data), true) {
		return
	}
	l.flow.sent(data)
	switch {
	case !l.through:
		who.held = append(who.held, data...)
	case l.out != nil:
		l.out.frame(frameData, data)
	}
}
