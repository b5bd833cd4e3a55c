package daemon

import (
	"context"
	"net"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/lifecycle"
	"fulmen/daemon/internal/uninstall"
	"fulmen/daemon/internal/uninstall/bundle"
)

// listen gives what the API is served on, the TCP address that clients are told first.
func (d *daemon) listen() ([]net.Listener, Address, error) {
	all, tcp, instead, err := lifecycle.Listen(lifecycle.ListenConfig{
		Sockets: d.options.Sockets, Path: d.folders.Socket(), Port: d.live.Current().API.Port, IsNamed: d.live.IsSet("api.port"),
	})
	if err != nil {
		return nil, Address{}, err
	}
	if instead != "" {
		d.conditions.Raise(api.ReasonAPIPortTaken, instead+" serves instead")
	}
	return all, Address{URL: "ws://" + tcp.Addr().String() + api.PathAPI, Socket: d.folders.Socket()}, nil
}

// followBundle follows the app that this daemon was started from, where there is one,
// until ctx ends.
func (d *daemon) followBundle(ctx context.Context, stop context.CancelCauseFunc) {
	path := d.options.Bundle
	if path == "" && d.options.Simulation == nil {
		path = bundle.Containing(d.program)
	}
	if path == "" {
		return
	}
	uninstall.Trash{
		Path: path, Clock: d.platform.Clock, GoneFor: d.options.BundleGone, HasSpotlight: d.platform.Name == "darwin",
		PutBack: d.rdma.UndoAll, Record: d.folders.UndoFile(), EndRanks: func(ctx context.Context) { d.departure.EndRanks(ctx, api.SelfStopping, api.ReasonStopping) },
		Options: func() (uninstall.Options, error) { return uninstallHere(d.options.environment()) },
		Stop:    func() { stop(nil) }, Log: d.logs.Part("uninstall"),
	}.Follow(ctx)
}
