package probe

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
	"fulmen/native/frame"
)

// asking is a measurement that this node makes.
type asking struct {
	prober *Prober
	ctx    context.Context
	cancel context.CancelCauseFunc
	id     api.MeasureID
	path   Path
	amount Amount
	key    []byte // the peer's public key
	token  []byte
	port   uint16
	tell   func(step string, done float64)

	seen    atomic.Int64 // grows with everything that arrives
	control *control
	noise   []byte
	result  Result
}

// announce asks the peer for leave.
func (m *asking) announce(within time.Duration) error {
	params := api.PeerMeasureParams{
		Measurement: m.id, Transport: api.TransportSocket, Sink: m.path.Sink, MaxBytes: briefBytes, DeadlineS: within.Seconds(),
	}
	if m.amount == AmountFull {
		params.MaxBytes = fullBytes
	}
	ctx, cancel := native.WithTimeout(m.ctx, m.prober.cfg.Clock, leaveWithin, m.path.Peer.Display()+" to allow the measurement")
	defer cancel()
	var leave api.PeerMeasureResult
	if err := m.prober.cfg.Peers.Call(ctx, m.path.Peer, "peer.measure", params, &leave); err != nil {
		return err
	}
	if len(leave.Token) != tokenBytes || leave.Port <= 0 || leave.Port > 65535 {
		return m.implausible("its leave has no token and port")
	}
	m.token, m.port = leave.Token, uint16(leave.Port)
	return nil
}

// open makes a connection on the path whose other end has proved to be the
// peer. It is closed when the measurement ends.
func (m *asking) open(why purpose, number int) (net.Conn, error) {
	to := netip.AddrPortFrom(native.Zoned(m.path.Sink, m.path.Interface), m.port)
	ctx, cancel := native.WithTimeout(m.ctx, m.prober.cfg.Clock, proveWithin, fmt.Sprintf("%s to answer at %s", m.path.Peer.Display(), m.path.Sink))
	defer cancel()
	conn, err := m.prober.cfg.Sockets.Dial(ctx, m.path.Interface, m.path.Source, to)
	if err != nil {
		return nil, m.silent(ctx, err)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	if err := m.prove(conn, why, number); err != nil {
		conn.Close()
		return nil, m.silent(ctx, err)
	}
	if !stop() {
		return nil, m.silent(ctx, nil)
	}
	context.AfterFunc(m.ctx, func() { drop(conn) })
	return conn, nil
}

// silent is why a connection did not come about; that the time for it has
// passed means that nobody answers.
func (m *asking) silent(ctx context.Context, err error) error {
	waited, ok := errors.AsType[*native.DeadlineError](context.Cause(ctx))
	if !ok || m.ctx.Err() != nil {
		return either(context.Cause(ctx), err)
	}
	e := api.Errorf(api.ReasonUnreachable, m.path.Peer.Display(), "%s does not answer at %s.", m.path.Peer.Display(), m.path.Sink)
	e.Data.WaitingFor = waited.WaitingFor
	return e
}

// either is the first error that there is.
func either(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// prove shows who this node is, and sees who the other one is. Whoever speaks
// otherwise is somebody else.
func (m *asking) prove(conn net.Conn, why purpose, number int) error {
	err := m.exchange(conn, why, number)
	if _, ok := errors.AsType[*frame.TooLongError](err); ok || errors.Is(err, errFrame) {
		return api.NewError(api.ReasonWrongIdentity, m.path.Sink.String())
	}
	return err
}

func (m *asking) exchange(conn net.Conn, why purpose, number int) error {
	challenge, err := frame.Read(conn, nonceBytes)
	if err != nil {
		return err
	}
	b := bond{
		measurement: m.id, measurer: m.prober.cfg.Peers.Self(), measured: m.path.Peer, sink: m.path.Sink, token: m.token,
		purpose: why, stream: number, challenge: challenge, nonce: drawn(nonceBytes),
	}
	data, err := json.Marshal(hello{Purpose: why, Stream: number, Nonce: b.nonce, Proof: ed25519.Sign(m.prober.cfg.Key, b.dialled())})
	if err != nil {
		return err
	}
	if _, err := conn.Write(frame.Encode(data)); err != nil {
		return err
	}
	if data, err = frame.Read(conn, frameLimit); err != nil {
		return err
	}
	var w welcome
	if err := w.read(data); err != nil {
		return err
	}
	if w.Refused != "" {
		return api.NewError(w.Refused, m.path.Peer.Display())
	}
	if !ed25519.Verify(m.key, b.answered(), w.Proof) {
		return api.NewError(api.ReasonWrongIdentity, m.path.Sink.String())
	}
	return nil
}
