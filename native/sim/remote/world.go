package remote

import (
	"context"
	"net"
	"slices"

	"fulmen/native"
	"fulmen/native/sim"
	"fulmen/native/sim/loopback"
	"fulmen/native/sim/scenario"
)

// World is a world that another process hosts. All methods may be called from
// any goroutine.
type World struct {
	options Options
	link    *link
	hello   helloResult
}

// Options is how a world is reached otherwise than at a Unix socket.
type Options struct {
	// Name is the world's in errors.
	Name string
	// Dial makes a connection; the world has one, and each platform.
	Dial func(ctx context.Context) (net.Conn, error)
	// Clock is the clock of the platforms, and of waiting for answers.
	Clock native.Clock
}

// Dial connects to the world that [Serve] hosts at a Unix socket of this machine.
func Dial(ctx context.Context, socket string) (*World, error) {
	clock, err := native.SystemClock()
	if err != nil {
		return nil, err
	}
	return Open(ctx, Options{Name: socket, Clock: clock, Dial: func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}})
}

// Open connects to a world.
func Open(ctx context.Context, options Options) (*World, error) {
	w := &World{options: options}
	var err error
	w.link, w.hello, err = w.connect(ctx, "", func(error) {})
	if err != nil {
		return nil, err
	}
	return w, nil
}

// connect makes a connection for a Mac, or for none.
func (w *World) connect(ctx context.Context, mac string, gone func(why error)) (*link, helloResult, error) {
	within, cancel := native.WithTimeout(ctx, w.options.Clock, answerWithin, "the simulated world at "+w.options.Name)
	conn, err := w.options.Dial(within)
	cancel()
	if err != nil {
		return nil, helloResult{}, &GoneError{World: w.options.Name, Err: err}
	}
	l := newLink(conn, w.options.Name, w.options.Clock, gone)
	var hello helloResult
	if err := l.call(ctx, methodHello, helloParams{Protocol: protocol, Mac: mac}, &hello); err != nil {
		l.close()
		return nil, helloResult{}, err
	}
	return l, hello, nil
}

// Name returns that of the scenario.
func (w *World) Name() string { return w.hello.Scenario }

// Macs returns the names of the Macs in the scenario's order.
func (w *World) Macs() []string { return slices.Clone(w.hello.Macs) }

// Apply makes one change, as [fulmen/native/sim.World.Apply] does.
func (w *World) Apply(op scenario.Op) error {
	return w.link.call(context.Background(), methodApply, applyParams{op.String()}, nil)
}

// Recorded returns what is recorded of a Mac, as [fulmen/native/sim.World.Recorded] does.
func (w *World) Recorded(mac string) (sim.Recorded, error) {
	var r sim.Recorded
	err := w.link.call(context.Background(), methodRecorded, recordedParams{mac}, &r)
	return r, err
}

// Play does nothing: who hosts a world plays its time line.
func (w *World) Play(context.Context) error { return nil }

// Platform returns one Mac as a platform, over a connection of its own.
// Closing it, or the end of this process, ends whatever was begun through it; the
// Mac stays as it is. When the world goes, facts and actions give a [GoneError],
// connections break, and there is one last hint for every area.
func (w *World) Platform(name string) (native.Platform, error) {
	m := &mac{clock: w.options.Clock}
	m.sockets = loopback.New(exchange{m})
	var err error
	if m.link, _, err = w.connect(context.Background(), name, m.gone); err != nil {
		return native.Platform{}, err
	}
	return native.Platform{
		Name: "sim", Simulated: true,
		Facts: m, Clock: w.options.Clock, Discovery: m, Power: m, Network: m, Sockets: m.sockets,
		Closers: []func() error{m.close},
	}.Complete()
}

// Close ends the connection; platforms have their own.
func (w *World) Close() error {
	w.link.close()
	return nil
}
