package probe

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/profile"
	"fulmen/native"
	"fulmen/native/frame"
)

// asking is a measurement that this node makes.
type asking struct {
	prober *Prober
	ctx    context.Context
	cancel context.CancelCauseFunc
	id     api.MeasureID
	path   profile.Path
	amount Amount
	key    []byte // the peer's public key
	token  []byte
	ports  []uint16 // of the path, and of those beside it
	notify func(step string, done float64)

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
	for _, p := range m.path.Beside {
		params.Beside = append(params.Beside, p.Sink)
		params.MaxBytes += briefBytes
	}
	ctx, cancel := native.WithTimeout(m.ctx, m.prober.cfg.Clock, leaveWithin, m.path.Peer.Display()+" to allow the measurement")
	defer cancel()
	var leave api.PeerMeasureResult
	if err := m.prober.cfg.Peers.Call(ctx, m.path.Peer, "peer.measure", params, &leave); err != nil {
		return err
	}
	m.token = leave.Token
	if n := len(leave.Ports); n != 0 && n != len(m.path.Beside) {
		return m.implausible("its permission is for other addresses")
	}
	for _, port := range append([]int{leave.Port}, leave.Ports...) {
		if len(leave.Token) != tokenBytes || port <= 0 || port > 65535 {
			return m.implausible("its permission has no valid token or port")
		}
		m.ports = append(m.ports, uint16(port))
	}
	return nil
}

// measuresTogether reports whether the peer has given leave for all paths. One of a version
// before this gives it for the first alone.
func (m *asking) measuresTogether() error {
	if len(m.ports) == 1+len(m.path.Beside) {
		return nil
	}
	peer := m.path.Peer.Display()
	return api.Errorf(api.ReasonProtocolTooOld, peer, "Fulmen on %s measures one path at a time.", peer)
}

// open makes a connection on the path, or by its number in turn on one of those that are
// measured together, whose other end has proved to be the peer. It is closed when the
// measurement ends.
func (m *asking) open(why purpose, number int) (net.Conn, error) {
	at := number % (1 + len(m.path.Beside))
	path := append([]profile.Path{m.path}, m.path.Beside...)[at]
	to := netip.AddrPortFrom(native.Zoned(path.Sink, path.Interface), m.ports[at])
	ctx, cancel := native.WithTimeout(m.ctx, m.prober.cfg.Clock, proveWithin, fmt.Sprintf("%s to answer at %s", path.Peer.Display(), path.Sink))
	defer cancel()
	conn, err := m.prober.cfg.Sockets.Dial(ctx, path.Interface, path.Source, to)
	if err != nil {
		return nil, m.silent(ctx, path.Sink, err)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	if err := m.prove(conn, path.Sink, why, number); err != nil {
		conn.Close()
		return nil, m.silent(ctx, path.Sink, err)
	}
	if !stop() {
		return nil, m.silent(ctx, path.Sink, nil)
	}
	context.AfterFunc(m.ctx, func() { drop(conn) })
	return conn, nil
}

// silent is why a connection did not come about; that the time for it has
// passed means that nobody answers.
func (m *asking) silent(ctx context.Context, sink netip.Addr, err error) error {
	waited, ok := errors.AsType[*native.DeadlineError](context.Cause(ctx))
	if !ok || m.ctx.Err() != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	return api.Errorf(api.ReasonUnreachable, m.path.Peer.Display(), "%s does not answer at %s.", m.path.Peer.Display(), sink).
		WithWait(waited.WaitingFor)
}

// prove shows who this node is, and sees who the other one is. Whoever speaks
// otherwise is somebody else.
func (m *asking) prove(conn net.Conn, sink netip.Addr, why purpose, number int) error {
	err := m.exchange(conn, sink, why, number)
	if _, ok := errors.AsType[*frame.TooLongError](err); ok || errors.Is(err, errFrame) {
		return api.NewError(api.ReasonWrongIdentity, sink.String())
	}
	return err
}

func (m *asking) exchange(conn net.Conn, sink netip.Addr, why purpose, number int) error {
	challenge, err := frame.Read(conn, nonceBytes)
	if err != nil {
		return err
	}
	b := bond{
		measurement: m.id, measurer: m.prober.cfg.Peers.Self(), measured: m.path.Peer, sink: sink, token: m.token,
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
		return api.NewError(api.ReasonWrongIdentity, sink.String())
	}
	return nil
}

// fault says why a measurement of a path failed: what ended its context, or what
// a connection said.
func (m *asking) fault(err error) *api.Error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(m.ctx); cause != nil {
		err = cause
	}
	path := m.path
	e, isOurs := errors.AsType[*api.Error](err)
	if !isOurs || e.Is(api.ReasonPeerStalled) || e.Is(api.ReasonUnreachable) {
		if iface, ok := m.prober.cfg.Interface(path.Source); path.Source.IsValid() && (!ok || iface != path.Interface) {
			return api.Errorf(api.ReasonAddressLost, path.Interface, "%s no longer has the address %s.", path.Interface, path.Source)
		}
	}
	if isOurs {
		return e
	}
	peer := path.Peer.Display()
	switch {
	case errors.Is(err, context.Canceled):
		return api.NewError(api.ReasonCancelled, "")
	case errors.Is(err, context.DeadlineExceeded):
		e := api.Errorf(api.ReasonDeadline, peer, "The measurement of the path to %s took too long.", peer)
		if d, ok := errors.AsType[*native.DeadlineError](err); ok {
			e.Data.WaitingFor = d.WaitingFor
		}
		return e
	case errors.Is(err, syscall.ENODEV), errors.Is(err, syscall.ENXIO), errors.Is(err, fs.ErrNotExist), noInterface(err):
		return api.Errorf(api.ReasonLinkGone, path.Interface, "The interface %s is gone.", path.Interface)
	case errors.Is(err, syscall.ENETDOWN):
		return api.Errorf(api.ReasonLinkDown, path.Interface, "The interface %s is down.", path.Interface)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return api.Errorf(api.ReasonAddressLost, path.Interface, "%s no longer has the address %s.", path.Interface, path.Source)
	case errors.Is(err, errFrame):
		return m.implausible("it sent something that is not part of a measurement")
	case errors.Is(err, native.ErrUnsupported):
		return api.Errorf(api.ReasonUnreachable, peer, "This machine cannot open connections.")
	}
	m.prober.cfg.Log.Info("a measurement failed", "peer", path.Peer, "sink", path.Sink, "error", err)
	return api.Errorf(api.ReasonUnreachable, peer, "%s no longer answers at %s.", peer, path.Sink)
}

// noInterface reports whether the standard library looked for an interface in vain.
func noInterface(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "route"
}

// implausible says that the peer's numbers cannot be true.
func (m *asking) implausible(why string) *api.Error {
	peer := m.path.Peer.Display()
	return api.Errorf(api.ReasonPeerImplausible, peer, "The numbers of %s contradict what was seen here: %s.", peer, why)
}

// unstable says that what both ends saw differs more than it should.
func (m *asking) unstable(why string) *api.Error {
	peer := m.path.Peer.Display()
	e := api.Errorf(api.ReasonResultUnstable, peer, "What %s and this node saw of the transfer differs too much: %s.", peer, why)
	e.Code = api.CodePrecondition // it can be tried again
	return e
}

// stalled says that the peer stopped in the middle.
func (m *asking) stalled() *api.Error {
	peer := m.path.Peer.Display()
	return api.Errorf(api.ReasonPeerStalled, peer, "%s stopped in the middle of the transfer.", peer).WithWait("bytes from " + peer)
}
