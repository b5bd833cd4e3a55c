package sidechannel

import (
	"encoding/binary"
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

// listen takes the connections to the rank's port until that is closed.
func (l *leaf) listen() {
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

// take serves one connection to the rank's port.
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
		case l.over || !l.carry(len(number)):
			err = errors.New("the channel is closed")
		default:
			l.caller, l.state = who, api.HandshakeHeld
			l.callIn()
		}
	}
	l.mu.Unlock()
	if err != nil {
		l.c.cfg.Log.Warn("a connection to a rank's side channel was dropped", "rank", l.ch.Rank.String(), "err", err)
		reset(conn)
		return
	}
	l.tell()
	l.work.Go(func() {
		who.out.drain(conn)
		conn.Close()
	})
	l.hear(who)
	l.mu.Lock()
	if who.passed {
		close(l.spoken)
	}
	l.mu.Unlock()
	who.out.close()
	conn.Close()
}

// admit checks that a connection is of a process of the rank's group, and that
// what it says first is the rank's number.
func (l *leaf) admit(conn net.Conn) (number []byte, err error) {
	ref := l.ch.Rank
	near, isTCP := conn.RemoteAddr().(*net.TCPAddr)
	far, isTCP2 := conn.LocalAddr().(*net.TCPAddr)
	if !isTCP || !isTCP2 {
		return nil, errors.New("it is no connection of TCP")
	}
	late := l.c.cfg.Clock.AfterFunc(numberWithin, func() { conn.Close() })
	defer late.Stop()
	// A program may be here before it is known which process it is.
	select {
	case <-l.spawned:
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
	own, err := l.c.cfg.Machine.Holds(l.c.cfg.Group(ref), near.AddrPort(), far.AddrPort())
	if err != nil {
		return nil, err
	}
	if !own {
		return nil, errors.New("it is not of a process of the rank")
	}
	number = make([]byte, numberBytes)
	if _, err := io.ReadFull(conn, number); err != nil {
		return nil, err
	}
	if said := int32(binary.LittleEndian.Uint32(number)); int(said) != ref.Rank {
		l.fail(api.Errorf(api.ReasonWrongRankNumber, ref.String(), "The program of rank %d says on its side channel that it is rank %d.", ref.Rank, said))
		return nil, errors.New("it says the number of another rank")
	}
	return number, nil
}

// hear reads what the rank's program says until it ends.
func (l *leaf) hear(who *caller) {
	buffer := make([]byte, maxData)
	for {
		n, err := who.conn.Read(buffer)
		if n > 0 {
			l.said(who, buffer[:n])
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
	l.tell()
	if !who.passed { // settled: it is nobody's any more
		return
	}
	await(l.c.cfg.Clock, l.ending, severAfter)
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

// await waits for something, and not for longer than a time.
func await(clock native.Clock, done <-chan struct{}, most time.Duration) {
	late := make(chan struct{})
	timer := clock.AfterFunc(most, func() { close(late) })
	defer timer.Stop()
	select {
	case <-done:
	case <-late:
	}
}

func (l *leaf) said(who *caller, data []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.caller != who || !l.carry(len(data)) {
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
