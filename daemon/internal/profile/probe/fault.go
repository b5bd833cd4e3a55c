package probe

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"syscall"

	"fulmen/daemon/api"
	"fulmen/native"
)

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
		e := api.Errorf(api.ReasonDeadline, peer, "The measurement of the path to %s took longer than it may.", peer)
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
		return m.implausible("it sent what does not belong there")
	case errors.Is(err, native.ErrUnsupported):
		return api.Errorf(api.ReasonUnreachable, peer, "This machine cannot open connections.")
	}
	m.prober.cfg.Log.Info("a measurement failed", "peer", path.Peer, "sink", path.Sink, "error", err)
	return api.Errorf(api.ReasonUnreachable, peer, "%s does not answer at %s any more.", peer, path.Sink)
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
	e := api.Errorf(api.ReasonPeerStalled, peer, "%s stopped in the middle of the transfer.", peer)
	e.Data.WaitingFor = "bytes from " + peer
	return e
}
