package relay

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	"fulmen/native"
)

// temporary reports whether a listener may go on after an error.
func temporary(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ECONNABORTED) || errors.Is(err, syscall.ENOBUFS)
}

// pauseFor is how long a listener rests that has no descriptor for a connection.
const pauseFor = 100 * time.Millisecond

// pause rests; false where the job is over.
func (p *published) pause() bool {
	done := make(chan struct{})
	p.relay.cfg.Clock.AfterFunc(pauseFor, func() { close(done) })
	<-done
	p.conns.mu.Lock()
	defer p.conns.mu.Unlock()
	return !p.conns.closed
}

// writeFrames sends what was read already.
func writeFrames(to io.Writer, data []byte) error {
	for len(data) > 0 {
		n := min(len(data), maxFrame)
		frame := binary.BigEndian.AppendUint32(make([]byte, 0, headBytes+n), uint32(n))
		if _, err := to.Write(append(frame, data[:n]...)); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// within closes a connection when its time is over; stop reports whether it was not.
func within(clock native.Clock, conn net.Conn, d time.Duration) (stop func() bool) {
	return clock.AfterFunc(d, func() { conn.Close() }).Stop
}
