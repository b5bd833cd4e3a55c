package remote

import (
	"context"
	"net/netip"

	"fulmen/native/sim/loopback"
)

// exchange is the cluster as the sockets of a Mac see it, by way of its link.
type exchange struct{ *mac }

// Open implements [loopback.Exchange].
func (e exchange) Open(ctx context.Context, iface string, at, taken netip.AddrPort) (loopback.OpenPort, error) {
	var opened openResult
	shut, err := e.link.subscribe(ctx, methodOpen, openParams{iface, at.Addr(), at.Port(), taken}, &opened, silent())
	if err != nil {
		return loopback.OpenPort{}, err
	}
	return loopback.OpenPort{Port: opened.Port, Close: func() { _ = shut() }}, nil
}

// Connect implements [loopback.Exchange].
func (e exchange) Connect(ctx context.Context, iface string, source netip.Addr, to netip.AddrPort, changed func(loopback.State)) (loopback.Flow, error) {
	return e.flow(ctx, methodConnect, connectParams{iface, source, to}, changed)
}

// Answer implements [loopback.Exchange].
func (e exchange) Answer(ctx context.Context, token string, changed func(loopback.State)) (loopback.Flow, error) {
	return e.flow(ctx, methodAnswer, answerParams{token}, changed)
}

func (e exchange) flow(ctx context.Context, what method, params any, changed func(loopback.State)) (loopback.Flow, error) {
	var found flowResult
	s := subscribed(changed)
	s.direct = true
	id, err := e.link.ask(ctx, what, params, &found, s)
	if err != nil {
		return loopback.Flow{}, err
	}
	return loopback.Flow{
		At: found.At, Token: found.Token, Local: found.Local, Remote: found.Remote, Close: func() { e.link.cancel(id) },
	}, nil
}
