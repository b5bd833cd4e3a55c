package remote_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/nativetest"
	"fulmen/native/sim"
	"fulmen/native/sim/remote"
	"fulmen/native/sim/scenario"
)

// pipes is a listener in memory.
type pipes struct {
	coming chan net.Conn
	done   chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{coming: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.coming:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

func (p *pipes) dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.coming <- far:
		return near, nil
	case <-p.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// hosted is a world that is served, and what ends it.
type hosted struct {
	*sim.World
	pipes *pipes
	clock native.Clock
	end   func()
}

func host(t *testing.T, s scenario.Scenario, clock native.Clock) *hosted {
	t.Helper()
	world, err := sim.New(s, clock)
	is.New(t).NoErr(err)
	ctx, cancel := context.WithCancel(context.Background())
	h := &hosted{World: world, pipes: newPipes(), clock: clock}
	served := make(chan error, 1)
	go func() { served <- remote.Serve(ctx, h.pipes, world) }()
	h.end = sync.OnceFunc(func() {
		cancel()
		is.New(t).NoErr(<-served)
		is.New(t).NoErr(world.Close())
	})
	t.Cleanup(h.end)
	return h
}

func (h *hosted) dial(t *testing.T) *remote.World {
	t.Helper()
	w, err := remote.Open(t.Context(), remote.Options{Name: "memory", Dial: h.pipes.dial, Clock: h.clock})
	is.New(t).NoErr(err)
	t.Cleanup(func() { is.New(t).NoErr(w.Close()) })
	return w
}

func load(t *testing.T, name string) scenario.Scenario {
	t.Helper()
	s, err := scenario.Load(name)
	is.New(t).NoErr(err)
	return s
}

func op(t *testing.T, line string) scenario.Op {
	t.Helper()
	o, err := scenario.ParseOp(line)
	is.New(t).NoErr(err)
	return o
}

func TestConform(t *testing.T) {
	nativetest.Conform(t, func(t *testing.T) native.Platform {
		p, err := host(t, load(t, "hub-3"), nativetest.NewClock(time.Now())).dial(t).Platform(load(t, "hub-3").Macs[0].Name)
		is.New(t).NoErr(err)
		return p
	})
}

// stage is a world in another process, as a stage.
type stage struct{ *remote.World }

func (s stage) Do(op scenario.Op) error {
	err := s.Apply(op)
	synctest.Wait() // the hints come by other connections than the answer
	return err
}

func TestConformanceScripts(t *testing.T) {
	skipped := nativetest.RunScripts(t, func(t *testing.T, s nativetest.Script) {
		synctest.Test(t, func(t *testing.T) {
			is := is.New(t)
			began := time.Now()
			clock := native.ClockFrom(time.Now, func() time.Duration { return time.Since(began) + time.Hour })
			h := host(t, s.Cluster, clock)
			w := h.dial(t)
			platforms := map[string]native.Platform{}
			for _, mac := range w.Macs() {
				p, err := w.Platform(mac)
				is.NoErr(err)
				platforms[mac] = p
			}
			s.Run(t, keeping{stage{w}, platforms})
			for _, p := range platforms {
				is.NoErr(p.Close())
			}
			is.NoErr(w.Close())
			h.end()
		})
	})
	is.New(t).Equal(skipped, nil)
}

// keeping is a stage with one platform a Mac.
type keeping struct {
	stage
	platforms map[string]native.Platform
}

func (k keeping) Platform(mac string) (native.Platform, error) { return k.platforms[mac], nil }

func TestErrorsKeepTheirMeaning(t *testing.T) {
	is := is.New(t)
	w := host(t, load(t, "two-studios"), nativetest.NewClock(time.Now())).dial(t)
	is.Equal(w.Name(), "two-studios")
	is.Equal(w.Macs(), []string{"studio-1", "studio-2"})
	_, err := w.Platform("studio-9")
	is.True(errors.Is(err, native.ErrNotFound))
	is.True(errors.Is(w.Apply(op(t, "sleep studio-9")), native.ErrNotFound))
	p, err := w.Platform("studio-1")
	is.NoErr(err)
	defer p.Close()
	err = p.Network.SetBridgeMember(t.Context(), "bridge9", "en1", true)
	var action *native.ActionError
	is.True(errors.As(err, &action))
	is.Equal(action.Action, native.FeatureBridgeMembership)
	is.True(errors.Is(err, native.ErrNotFound))
	is.True(errors.Is(p.Power.Acknowledge(t.Context(), "none"), native.ErrNotFound))
	_, err = p.Discovery.Announce(t.Context(), native.Announcement{})
	is.True(err != nil)
	_, err = p.Supervisor.List(t.Context(), "")
	is.True(errors.Is(err, native.ErrUnsupported))
}

// A change by one process is seen by the others, and what one has announced is
// gone when it goes.
func TestOneWorldForAll(t *testing.T) {
	is := is.New(t)
	h := host(t, load(t, "two-studios"), nativetest.NewClock(time.Now()))
	first, second := h.dial(t), h.dial(t)
	a, err := first.Platform("studio-1")
	is.NoErr(err)
	defer a.Close()
	b, err := second.Platform("studio-2")
	is.NoErr(err)

	hints := make(chan native.Hint, 64)
	stop, err := a.Facts.Watch(func(h native.Hint) { hints <- h })
	is.NoErr(err)
	is.NoErr(second.Apply(op(t, "set studio-1.memory.used 20 GB")))
	received := <-hints
	is.Equal(received.Area, native.AreaMemory)
	is.Equal(received.Source, "sim.set")
	is.NoErr(stop())
	is.NoErr(stop()) // harmless
	here, err := a.Facts.Snapshot(t.Context(), native.AllAreas()...)
	is.NoErr(err)
	is.Equal(*here.Memory.UsedBytes, int64(20<<30))
	own, err := h.Platform("studio-1")
	is.NoErr(err)
	there, err := own.Facts.Snapshot(t.Context(), native.AllAreas()...)
	is.NoErr(err)
	is.Equal(here, there) // nothing is lost on its way

	var ethernet string
	for _, i := range here.Network.Interfaces {
		if i.Type == native.InterfaceEthernet {
			ethernet = i.Name
			break
		}
	}
	seen := make(chan native.Sighting, 64)
	_, err = a.Discovery.Browse(t.Context(), "_fulmen._tcp", []string{ethernet}, func(s native.Sighting) { seen <- s })
	is.NoErr(err)
	_, err = b.Discovery.Announce(t.Context(), native.Announcement{
		Type: "_fulmen._tcp", Instance: "x", Port: 7732, TXT: map[string]string{"p": "1"}, Interfaces: []string{ethernet},
	})
	is.NoErr(err)
	is.Equal((<-seen).Instance, "x")
	_, err = b.Power.KeepAwake(t.Context(), "a job runs")
	is.NoErr(err)
	is.NoErr(b.Close())
	is.True((<-seen).Gone)

	b, err = second.Platform("studio-2") // and again
	is.NoErr(err)
	defer b.Close()
	notices := make(chan native.PowerNotice, 4)
	_, err = b.Power.Notices(func(n native.PowerNotice) { notices <- n })
	is.NoErr(err)
	is.NoErr(first.Apply(op(t, "sleep studio-2")))
	notice := <-notices
	is.Equal(notice.Event, native.PowerWillSleep)
	is.True(len(h.Reach("studio-1")) > 0)
	is.NoErr(b.Power.Acknowledge(t.Context(), notice.ID))
	is.Equal(h.Reach("studio-1"), nil)
}

// A daemon whose world is gone is told, and told which.
func TestWorldGone(t *testing.T) {
	is := is.New(t)
	h := host(t, load(t, "two-studios"), nativetest.NewClock(time.Now()))
	w := h.dial(t)
	p, err := w.Platform("studio-1")
	is.NoErr(err)
	defer p.Close()
	l, err := p.Sockets.Listen(t.Context(), "", netip.AddrPortFrom(netip.Addr{}, 7732))
	is.NoErr(err)
	hinted := make(chan native.Hint, 64)
	_, err = p.Facts.Watch(func(h native.Hint) { hinted <- h })
	is.NoErr(err)
	h.end()
	for _, area := range native.AllAreas() {
		hint := <-hinted
		is.Equal(hint.Area, area)
		is.Equal(hint.Source, "sim.gone")
	}
	_, err = l.Accept()
	for _, err := range []error{
		err, w.Apply(op(t, "sleep studio-1")), second(p.Facts.Snapshot(t.Context(), native.AreaMemory)), second(p.Facts.Capabilities(t.Context())),
		p.Network.SetBridgeMember(t.Context(), "bridge0", "en1", true), second(p.Sockets.Listen(t.Context(), "", netip.AddrPort{})), second(w.Platform("studio-1")),
	} {
		gone, ok := errors.AsType[*remote.GoneError](err)
		is.True(ok)
		is.Equal(gone.World, "memory")
		is.True(errors.Is(err, native.ErrClosed))
	}
}

func second[T any](_ T, err error) error { return err }

// A world that takes requests and answers none is not waited for for ever.
func TestWorldThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		silent := newPipes()
		defer silent.Close()
		began := time.Now()
		go func() {
			c, _ := silent.Accept()
			for {
				if _, err := c.Read(make([]byte, 512)); err != nil {
					return
				}
			}
		}()
		clock := native.ClockFrom(time.Now, func() time.Duration { return time.Since(began) })
		_, err := remote.Open(t.Context(), remote.Options{Name: "mute", Dial: silent.dial, Clock: clock})
		is.True(errors.Is(err, context.DeadlineExceeded))
		is.Equal(err.Error(), "waited 10s for the simulated world at mute to answer hello")
	})
}
