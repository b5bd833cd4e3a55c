package daemon

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/life"
	"fulmen/daemon/internal/server"
	"fulmen/native"
)

// stoppedFor is how long a stopped daemon stays without a connection. Whoever
// connects later wakes another.
const stoppedFor = 30 * time.Second

// errStaysStopped ends a run in which the daemon was only woken to say that it is
// stopped.
var errStaysStopped = errors.New("it stays stopped")

// stopHandler answers daemon.stop. Where clients would wake the daemon again, a mark
// says that it is not to run.
func (d *daemon) stopHandler(stop context.CancelCauseFunc) func(context.Context, *server.Caller, api.DaemonStopParams) (api.Empty, error) {
	return func(ctx context.Context, c *server.Caller, p api.DaemonStopParams) (api.Empty, error) {
		d.logs.part("daemon").Info("asked to stop", "uid", c.UID, "end_jobs", p.EndJobs)
		if p.EndJobs {
			d.endJobs(ctx)
		}
		if d.options.Sockets.Len() > 0 {
			if err := life.Stopped(d.folders.StoppedFile()).Set(); err != nil {
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
		d.logs.part("daemon").Info("asked to restart", "uid", c.UID)
		c.Replied(func() { stop(ErrRestartProgram) })
		return api.Empty{}, nil
	}
}

// awaitStart returns when the daemon is to run: at once, unless a person has stopped
// it and launchd or systemd have woken it since. Then it says so to whoever asks,
// until somebody starts it. Meanwhile it holds nothing but the sockets: no lock, no
// database, no connection to others, no rank. It returns errStaysStopped when nobody
// has asked for a while.
func (d *daemon) awaitStart(ctx context.Context) error {
	mark := life.Stopped(d.folders.StoppedFile())
	if d.options.Sockets.Len() == 0 {
		return mark.Clear() // somebody started the program by hand
	}
	if !mark.IsSet() {
		return nil
	}
	clock, err := native.SystemClock()
	if err != nil {
		return err
	}
	h, err := d.takeHanded()
	if err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	idle := &idle{clock: clock, over: func() { end(errStaysStopped) }}
	idle.change(0)
	config := server.Config{
		Accepted: idle.change, Clock: clock, Log: d.stoppedLog(), Mode: d.folders.Mode, UID: uint32(os.Getuid()), Version: d.options.Version, InAdminGroup: adminGroup(),
		Refuse: func(method string) error {
			if method == methodStart || method == methodAuthorize {
				return nil
			}
			return api.NewError(api.ReasonStopped, method)
		},
		Handlers: server.Handlers{methodStart: server.Handle(func(_ context.Context, c *server.Caller, _ api.Empty) (api.Empty, error) {
			if err := mark.Clear(); err != nil {
				return api.Empty{}, err
			}
			c.Replied(func() { end(errStarted) })
			return api.Empty{}, nil
		})},
	}
	if a, ok := d.authorizer(config.Log); ok {
		config.Authorizer = a
	}
	s := server.New(config)
	var running sync.WaitGroup
	for _, l := range []net.Listener{h.unix, h.tcp} {
		if l != nil {
			running.Go(func() {
				if err := s.Serve(l); !errors.Is(err, server.ErrClosed) {
					end(err)
				}
			})
		}
	}
	d.tellReady("stopped by a person; fulmen start starts it") // who connects is answered
	running.Go(func() { keepAlive(ctx, clock, d.options.Supervisor.Watchdog(), func() {}, d.options.Supervisor.Alive) })
	<-ctx.Done()
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), api.DefaultDrain)
	defer cancel()
	err = s.Shutdown(drain)
	running.Wait()
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errStarted):
		return nil
	case errors.Is(cause, context.Canceled):
		return errors.Join(err, errStaysStopped) // a signal
	default:
		return cause
	}
}

const (
	methodStart     = "daemon.start"
	methodAuthorize = "daemon.authorize" // who may start it shows it in this way too
)

// errStarted is a person's daemon.start.
var errStarted = errors.New("it was started")

// stoppedLog is where a stopped daemon, which opens no file, says what goes wrong.
func (d *daemon) stoppedLog() *slog.Logger {
	out := d.options.Log
	if out == nil {
		out = io.Discard
	}
	return slog.New(slog.NewTextHandler(out, nil)).With("package", "server")
}

// idle ends what nobody has been connected to for a while.
type idle struct {
	clock native.Clock
	over  func()

	mu    sync.Mutex
	open  int
	timer native.Timer
}

// change counts connections that come or go.
func (i *idle) change(by int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.open += by
	if i.timer != nil {
		i.timer.Stop()
		i.timer = nil
	}
	if i.open == 0 {
		i.timer = i.clock.AfterFunc(stoppedFor, i.over)
	}
}
