package pairing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
	"fulmen/native/frame"
)

const (
	// ExchangeDeadline bounds a pairing from its first message to its last.
	ExchangeDeadline = 20 * time.Second
	// maxProvedBytes bounds a message of who has proved the code, with its length: a
	// roster of cluster.MaxEntries entries.
	maxProvedBytes = 4 << 20
)

// line is a connection that carries messages: each a length of four bytes,
// big-endian, and JSON.
type line struct {
	conn  Conn
	clock native.Clock
	ctx   context.Context // ends with the exchange
	// left is how many bytes the other side may still send; once it has proved
	// the code, how many a message may have.
	left     int
	isProved bool
}

// open begins an exchange. The returned function must be called.
func open(ctx context.Context, conn Conn, clock native.Clock) (*line, func()) {
	ctx, cancel := native.WithTimeout(ctx, clock, ExchangeDeadline, "pairing with "+conn.Peer().Display())
	return &line{conn: conn, clock: clock, ctx: ctx, left: api.MaxPairingBytes}, cancel
}

// prove says that the other side has proved the code.
func (l *line) prove() { l.isProved, l.left = true, maxProvedBytes }

// send writes one message.
func (l *line) send(m message) error {
	body, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode a message of pairing: %w", err)
	}
	if len(body) > maxProvedBytes-frame.HeadBytes {
		return api.Errorf(api.ReasonRosterConflict, "roster", "The roster has too many entries to be sent.")
	}
	return l.step("be heard", func() error {
		_, err := l.conn.Write(frame.Encode(body))
		return err
	})
}

// receive reads one message of the kinds named. A refusal is an error.
func (l *line) receive(waitingFor string, kinds ...string) (m message, err error) {
	var body []byte
	err = l.step(waitingFor, func() error {
		body, err = l.read()
		return err
	})
	if err != nil {
		return message{}, err
	}
	if m, err = decodeMessage(body); err != nil {
		return message{}, err
	}
	if m.Refuse != nil {
		return message{}, m.Refuse.refusedError(l.conn.Peer())
	}
	if !m.is(kinds...) {
		return message{}, malformed()
	}
	return m, nil
}

// ask writes one message and reads the answer.
func (l *line) ask(m message, waitingFor, kind string) (message, error) {
	if err := l.send(m); err != nil {
		return message{}, err
	}
	return l.receive(waitingFor, kind)
}

// read reads the body of a message, of as many bytes as the other side may send.
func (l *line) read() ([]byte, error) {
	body, err := frame.Read(l.conn, l.left-frame.HeadBytes)
	if _, isTooLong := errors.AsType[*frame.TooLongError](err); isTooLong {
		return nil, malformed()
	}
	if !l.isProved {
		l.left -= frame.HeadBytes + len(body)
	}
	return body, err
}

// step does one thing with the connection in the time that it may take.
func (l *line) step(waitingFor string, do func() error) error {
	ctx, cancel := native.WithTimeout(l.ctx, l.clock, api.PairingDeadline, waitingFor)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { l.conn.SetDeadline(time.Unix(1, 0)) })
	err := do()
	if !stop() {
		return l.ended(ctx)
	}
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*api.Error](err); ok {
		return e
	}
	// The text of a network's error has addresses at most.
	return errors.Join(api.Errorf(api.ReasonUnreachable, l.conn.Peer().Display(),
		"The other Mac ended the connection before pairing was done."), err)
}

// ended says why a step was cut short.
func (l *line) ended(ctx context.Context) error {
	late, ok := errors.AsType[*native.DeadlineError](context.Cause(ctx))
	if !ok {
		return api.NewError(api.ReasonCancelled, "")
	}
	return api.Errorf(api.ReasonDeadline, l.conn.Peer().Display(), "The other Mac did not answer in time.").
		WithWait(late.WaitingFor)
}

// greet exchanges versions. first says who speaks first.
func (l *line) greet(first bool) error {
	own := message{Hello: &hello{Version: ProtocolVersion, VersionMin: ProtocolVersion}}
	if first {
		if err := l.send(own); err != nil {
			return err
		}
	}
	m, err := l.receive("the other Mac to say hello", "hello")
	if err != nil {
		return err
	}
	if !first {
		if err := l.send(own); err != nil {
			return err
		}
	}
	switch {
	case m.Hello.VersionMin > ProtocolVersion:
		return api.NewError(api.ReasonProtocolTooNew, "")
	case m.Hello.Version < ProtocolVersion:
		return api.NewError(api.ReasonProtocolTooOld, "")
	}
	return nil
}

// refuse tells the other side, as far as it listens, and is the error.
func (l *line) refuse(err error, triesLeft int) error {
	// What was said before matters, not that the other side did not hear it.
	_ = l.send(message{Refuse: refusalOf(err, triesLeft)})
	return err
}
