package daemon

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/home"
	"fulmen/daemon/internal/lifecycle"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/uninstall"
	"fulmen/daemon/internal/uninstall/bundle"
	"fulmen/native"
)

// stoppedLog is where a stopped daemon, which opens no file, says what goes wrong.
func (d *daemon) stoppedLog() *slog.Logger {
	out := d.options.Log
	if out == nil {
		out = io.Discard
	}
	return slog.New(slog.NewTextHandler(out, nil)).With("package", "server")
}

// awaitStart returns when the daemon is to run; see [lifecycle.AwaitStart].
func (d *daemon) awaitStart(ctx context.Context) error {
	clock, err := native.SystemClock()
	if err != nil {
		return err
	}
	c := lifecycle.AwaitConfig{
		Mark: lifecycle.Stopped(d.folders.StoppedFile()), Sockets: d.options.Sockets, Clock: clock,
		Server: server.Config{
			Log: d.stoppedLog(), Mode: d.folders.Mode, UID: uint32(os.Getuid()), Version: d.options.Version, InAdminGroup: adminGroup(),
		},
		Ready:    func() { d.tellReady("stopped by a person; fulmen start starts it") }, // who connects is answered
		Watchdog: d.options.Supervisor.Watchdog(), Alive: d.options.Supervisor.Alive,
	}
	if a, ok := d.authorizer(c.Server.Log); ok {
		c.Server.Authorizer = a
	}
	return lifecycle.AwaitStart(ctx, c)
}

// listen gives what the API is served on, the TCP address that clients are told first.
func (d *daemon) listen() ([]net.Listener, Address, error) {
	all, tcp, instead, err := lifecycle.Listen(lifecycle.ListenConfig{
		Sockets: d.options.Sockets, Path: d.folders.Socket(), Port: d.live.Current().API.Port, IsNamed: d.namesPort(),
	})
	if err != nil {
		return nil, Address{}, err
	}
	if instead != "" {
		d.conditions.Raise(api.ReasonAPIPortTaken, instead+" serves instead")
	}
	return all, Address{URL: "ws://" + tcp.Addr().String() + api.PathAPI, Socket: d.folders.Socket()}, nil
}

// namesPort reports whether the configuration names the API's port itself.
func (d *daemon) namesPort() bool {
	return slices.ContainsFunc(d.live.Listing().Keys, func(k api.ConfigKey) bool { return k.Key == "api.port" && k.Set })
}

// adminGroup says who is an administrator without a proof; nil where a group alone
// proves nothing, as on macOS.
func adminGroup() func(uid uint32) (bool, error) {
	if runtime.GOOS != "linux" {
		return nil
	}
	return server.InGroup(api.AdminGroup)
}

// stopHandler answers daemon.stop. Where clients would wake the daemon again, a mark
// says that it is not to run.
func (d *daemon) stopHandler(stop context.CancelCauseFunc) func(context.Context, *server.Caller, api.DaemonStopParams) (api.Empty, error) {
	return func(ctx context.Context, c *server.Caller, p api.DaemonStopParams) (api.Empty, error) {
		d.logs.Part("daemon").Info("asked to stop", "uid", c.UID, "end_jobs", p.EndJobs)
		if p.EndJobs {
			d.departure.EndJobs(ctx)
		}
		if d.options.Sockets.Len() > 0 {
			if err := lifecycle.Stopped(d.folders.StoppedFile()).Set(); err != nil {
				return api.Empty{}, err
			}
		}
		c.Replied(func() { stop(nil) })
		return api.Empty{}, nil
	}
}

// restartHandler answers daemon.restart.
func (d *daemon) restartHandler(stop context.CancelCauseFunc) func(context.Context, *server.Caller, api.Empty) (api.Empty, error) {
	return func(_ context.Context, c *server.Caller, _ api.Empty) (api.Empty, error) {
		d.logs.Part("daemon").Info("asked to restart", "uid", c.UID)
		c.Replied(func() { stop(ErrRestartProgram) })
		return api.Empty{}, nil
	}
}

// wasAsked reports whether a run ended because somebody wanted it to. One that fails
// is as unexpected as one that dies.
func wasAsked(ctx context.Context, err error) bool {
	return ctx.Err() != nil || err == nil || errors.Is(err, ErrRestart) || errors.Is(err, ErrRestartProgram)
}

// tellReady tells whoever keeps the daemon that clients are answered. That it could
// not be told is no reason to end: who waits for it in vain does that.
func (d *daemon) tellReady(status string) {
	if err := d.options.Supervisor.Ready(status); err != nil {
		log := d.stoppedLog()
		if d.logs != nil {
			log = d.logs.Part("daemon")
		}
		log.Warn("whoever started the daemon was not told that it is ready", "error", err)
	}
}

// tellStopping tells it that the end of the process has begun. One that begins anew
// as another node does not end.
func (d *daemon) tellStopping(why error) {
	if errors.Is(why, ErrRestart) {
		return
	}
	if err := d.options.Supervisor.Stopping(); err != nil {
		d.logs.Part("daemon").Warn("whoever started the daemon was not told that it stops", "error", err)
	}
}

// ledgerAnswers returns when the ledger does.
func (d *daemon) ledgerAnswers() { d.ledger.Subscribers() }

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
		PutBack: d.changes.UndoAll, Record: d.folders.UndoFile(), EndRanks: func(ctx context.Context) { d.departure.EndRanks(ctx, api.SelfStopping, api.ReasonStopping) },
		Options: func() (uninstall.Options, error) { return uninstallHere(d.environment()) },
		Stop:    func() { stop(nil) }, Log: d.logs.Part("uninstall"),
	}.Follow(ctx)
}

// environment is that in which the folders are found.
func (d *daemon) environment() home.Environment {
	if d.options.Home.Getenv != nil {
		return d.options.Home
	}
	return home.Process()
}

// woken is a channel with a token whenever somebody is to look again.
type woken chan struct{}

// wake gives it one. It returns at once, and may be called under any lock.
func (w woken) wake() {
	select {
	case w <- struct{}{}:
	default:
	}
}

// tellConditions tells how the configuration and the disk are whenever they may have
// become otherwise, until ctx ends.
func (d *daemon) tellConditions(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.reconfigured:
			d.tellConfiguration()
		case <-d.filled:
			d.tellDisk()
		}
	}
}

// tellConfiguration tells how the configuration file and what is in force relate.
func (d *daemon) tellConfiguration() {
	d.conditions.Clear(api.ReasonConfigInvalid, api.ReasonConfigUnknownKey, api.ReasonNeedsRestart)
	for _, condition := range d.live.Status().Conditions(api.TimeOf(d.platform.Clock.Now())) {
		d.conditions.Raise(condition.Code, condition.Text)
	}
}

// tellDisk tells whether the database finds no room on the disk. The condition is no
// document that the database keeps, so that it can be told in both.
func (d *daemon) tellDisk() {
	if d.database.IsFull() {
		d.conditions.Raise(api.ReasonDiskFull, "the disk of "+d.folders.State)
	} else {
		d.conditions.Clear(api.ReasonDiskFull)
	}
}
