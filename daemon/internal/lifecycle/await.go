package lifecycle

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server"
	"fulmen/native"
	"fulmen/native/activation"
)

// stoppedFor is how long a stopped daemon stays without a connection. Whoever
// connects later wakes another.
const stoppedFor = 30 * time.Second

// ErrStaysStopped ends a run in which the daemon was only woken to say that it is
// stopped.
var ErrStaysStopped = errors.New("it stays stopped")

// AwaitConfig is what [AwaitStart] needs.
type AwaitConfig struct {
	Mark    Stopped
	Sockets activation.Sockets
	Clock   native.Clock
	// Server is that which serves meanwhile; what it answers and refuses is set here.
	Server server.Config
	// Ready is called when clients are answered.
	Ready func()
	// Watchdog is how often whoever keeps the daemon wants to hear of it, by Alive.
	Watchdog time.Duration
	Alive    func() error
}

// AwaitStart returns when the daemon is to run: at once, unless a person has stopped
// it and launchd or systemd have woken it since. Then it says so to whoever asks,
// until somebody starts it. Meanwhile it holds nothing but the sockets: no lock, no
// database, no connection to others, no rank. It returns ErrStaysStopped when nobody
// has asked for a while.
func AwaitStart(ctx context.Context, c AwaitConfig) error {
	mark := c.Mark
	if c.Sockets.Len() == 0 {
		return mark.Clear() // somebody started the program by hand
	}
	if !mark.IsSet() {
		return nil
	}
	h, err := TakeHanded(c.Sockets)
	if err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	idle := &idle{clock: c.Clock, over: func() { end(ErrStaysStopped) }}
	idle.change(0)
	c.Server.Accepted, c.Server.Clock = idle.change, c.Clock
	c.Server.Refuse = func(method string) error {
		if method == methodStart || method == methodAuthorize {
			return nil
		}
		return api.NewError(api.ReasonStopped, method)
	}
	c.Server.Handlers = server.Handlers{methodStart: server.Handle(func(_ context.Context, caller *server.Caller, _ api.Empty) (api.Empty, error) {
		if err := mark.Clear(); err != nil {
			return api.Empty{}, err
		}
		caller.Replied(func() { end(errStarted) })
		return api.Empty{}, nil
	})}
	s := server.New(c.Server)
	var running sync.WaitGroup
	for _, l := range []net.Listener{h.Unix, h.TCP} {
		if l != nil {
			running.Go(func() {
				if err := s.Serve(l); !errors.Is(err, server.ErrClosed) {
					end(err)
				}
			})
		}
	}
	c.Ready()
	running.Go(func() { KeepAlive(ctx, c.Clock, c.Watchdog, func() {}, c.Alive) })
	<-ctx.Done()
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), api.DefaultDrain)
	defer cancel()
	err = s.Shutdown(drain)
	running.Wait()
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errStarted):
		return nil
	case errors.Is(cause, context.Canceled):
		return errors.Join(err, ErrStaysStopped) // a signal
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
