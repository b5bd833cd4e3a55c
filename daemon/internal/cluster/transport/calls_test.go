package transport

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/native"
	"fulmen/native/memnet"
)

// reported is what the tests send.
type reported struct {
	Text string `json:"text"`
}

// echo answers calls of peer.hello with who calls, and streams with what comes.
func echo(n *node) {
	n.handle(gate.Hello, func(_ context.Context, from api.NodeID, params json.RawMessage) (any, error) {
		var p reported
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, err
		}
		switch p.Text {
		case "refuse":
			return nil, api.Errorf(api.ReasonSuspect, "x", "No.")
		case "panic":
			panic("a defect")
		}
		return reported{from.String()}, nil
	})
	n.handle(gate.Put, func(ctx context.Context, _ api.NodeID, _ json.RawMessage) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	n.HandleStream(n.gate().BindStream(gate.ServeMember(gate.Stream, func(_ context.Context, _ gate.Member, _ api.PeerConn, c net.Conn) { io.Copy(c, c) })))
}

func TestCalls(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		a, b := d.nodes[0], d.nodes[1]
		echo(b)
		d.open()
		var result reported
		is.NoErr(a.Call(d.t.Context(), b.id.Node, "peer.hello", reported{}, &result))
		is.Equal(result.Text, a.id.Node.String()) // TLS says who it is
		_, _, before := d.net.Host("host0").Traffic()
		for range 20 {
			is.NoErr(a.Call(d.t.Context(), b.id.Node, "peer.hello", reported{}, &result))
		}
		_, _, after := d.net.Host("host0").Traffic()
		is.Equal(after, before) // over one connection

		err := a.Call(d.t.Context(), b.id.Node, "peer.hello", reported{"refuse"}, &result)
		is.True(errors.Is(err, api.ReasonSuspect))
		is.Equal(api.AsError(err).Message, "No.")
		err = a.Call(d.t.Context(), b.id.Node, "peer.hello", reported{"panic"}, &result)
		is.True(errors.Is(err, api.CodeInternal))
		err = a.Call(d.t.Context(), b.id.Node, "daemon.stop", nil, nil) // no local method is reached
		is.True(errors.Is(err, api.CodeNotFound))
		ctx, cancel := context.WithTimeout(d.t.Context(), time.Second)
		defer cancel()
		err = a.Call(ctx, b.id.Node, "peer.put", nil, nil)
		is.True(errors.Is(err, api.ReasonDeadline))
		is.Equal(api.AsError(err).Data.WaitingFor, b.id.Node.Display())
	})
}

func TestCallsMoveToAnotherPath(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		a, b := d.nodes[0], d.nodes[1]
		echo(b)
		d.open()
		var result reported
		is.NoErr(a.Call(d.t.Context(), b.id.Node, "peer.hello", reported{}, &result))
		d.net.SetLAN("cable", false)
		// The path is not known to be dead yet; a stream finds the other one.
		began := time.Now()
		s, err := a.Stream(d.t.Context(), b.id.Node, api.PeerConn{Carries: api.ConnStream})
		is.NoErr(err)
		is.True(time.Since(began) < time.Second)
		_, err = s.Write([]byte("hello"))
		is.NoErr(err)
		got := make([]byte, 5)
		_, err = io.ReadFull(s, got)
		is.NoErr(err)
		is.Equal(string(got), "hello")
		is.NoErr(s.Close())
		d.pass(10 * time.Second)
		is.NoErr(a.Call(d.t.Context(), b.id.Node, "peer.hello", reported{}, &result))
		d.net.SetLAN("office", false)
		d.pass(10 * time.Second)
		err = a.Call(d.t.Context(), b.id.Node, "peer.hello", reported{}, &result)
		is.True(errors.Is(err, api.ReasonNoPath))
	})
}

// Calls that began on a worse path go over to a better one, and those that are
// under way are answered.
func TestCallsMoveToTheBestPath(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		a, b := d.nodes[0], d.nodes[1]
		release := make(chan struct{})
		b.handle(gate.Hello, func(context.Context, api.NodeID, json.RawMessage) (any, error) { return reported{}, nil })
		b.handle(gate.Pull, func(context.Context, api.NodeID, json.RawMessage) (any, error) {
			<-release
			return reported{"late"}, nil
		})
		d.net.SetLAN("cable", false)
		d.open()
		late := make(chan error, 1)
		go func() { late <- a.Call(d.t.Context(), b.id.Node, "peer.pull", nil, nil) }()
		d.pass(time.Second)
		d.net.SetLAN("cable", true)
		d.pass(20 * time.Second)
		is.Equal(a.active(b), []string{"en5>en5", "en0>en0"})
		is.NoErr(a.Call(d.t.Context(), b.id.Node, "peer.hello", nil, nil)) // opens the other connection
		close(release)
		is.NoErr(<-late)
		d.net.SetQuality("office", memnet.Quality{Delay: time.Second})
		d.pass(retireAfter)
		began := time.Now()
		is.NoErr(a.Call(d.t.Context(), b.id.Node, "peer.hello", nil, nil))
		is.True(time.Since(began) < 100*time.Millisecond)
	})
}

// Where another process of a node comes to count, no call goes to the one before: not by
// its other paths, whose ends take a moment, nor by a connection that was made to it.
func TestCallsGoToTheProcessThatCounts(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		a, node := d.nodes[0], identity(1).Node
		greet := func(session uint64, at place, address string) {
			near, far := net.Pipe()
			d.t.Cleanup(func() { near.Close(); far.Close() })
			l := &link{t: a.Transport, conn: near, place: at, session: session, out: make(chan []byte, queued), done: make(chan struct{})}
			is.NoErr(a.register(node, l, Path{
				Interface: at.iface, PeerInterface: at.peerIface, Address: netip.MustParseAddrPort(address), State: api.PathActive,
			}))
		}
		lan, cable := place{"en0", "en0"}, place{"en5", "en5"}
		greet(1, lan, "10.0.0.2:7732")
		greet(1, cable, "[fe80::2]:7732")
		is.Equal(a.active(d.nodes[1]), []string{"en5>en5", "en0>en0"})
		p := a.peerLocked(node)
		near, far := net.Pipe()
		defer far.Close()
		kept := newCallClient(near, nil)
		kept.at, kept.best, kept.to = cable, cable, netip.MustParseAddrPort("[fe80::2]:7732")
		is.True(p.leadsToLocked(kept.at, kept.to))
		p.calls.retired = map[*callClient]native.Timer{kept: d.clock.AfterFunc(retireAfter, kept.close)}

		greet(2, lan, "10.0.0.3:7732")
		is.Equal(a.active(d.nodes[1]), []string{"en0>en0"})
		is.True(kept.isOver())
		greet(2, cable, "[fe80::3]:7732")
		is.Equal(a.active(d.nodes[1]), []string{"en5>en5", "en0>en0"})
		is.True(!p.leadsToLocked(kept.at, kept.to))
		is.Equal(p.calls.takeLocked(cable), nil)
	})
}

// calling is by which interface a node calls another one, and how many connections for
// that are retired.
func (n *node) calling(to *node) (iface string, retired int) {
	n.Transport.mu.Lock()
	defer n.Transport.mu.Unlock()
	s := n.peerLocked(to.id.Node).calls
	return s.current.at.iface, len(s.retired)
}

// A cable that comes and goes, faster than connections are retired, leaves calls possible
// at every moment, over few connections.
func TestCallsOverACableThatComesAndGoes(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		a, b := d.nodes[0], d.nodes[1]
		echo(b)
		d.open()
		plugged := a.own
		d.pass(retireAfter)
		for range 12 {
			for _, own := range [][]Interface{plugged[:1], plugged} {
				a.SetInterfaces(own)
				d.pass(400 * time.Millisecond)
				is.Equal(len(a.active(b)), len(own))
				var result reported
				is.NoErr(a.Call(d.t.Context(), b.id.Node, "peer.hello", reported{}, &result))
				d.pass(100 * time.Millisecond)
				is.NoErr(a.Call(d.t.Context(), b.id.Node, "peer.hello", reported{}, &result)) // by the better path
				by, retired := a.calling(b)
				is.Equal(by, own[len(own)-1].Name)
				is.True(retired <= 1)
			}
		}
		d.pass(2 * retireAfter)
		_, retired := a.calling(b)
		is.Equal(retired, 0)
	})
}

// To open a connection takes three round trips, which a call need not wait for.
func TestCallsToAPeerFarAway(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		a, b := d.nodes[0], d.nodes[1]
		echo(b)
		d.net.SetLAN("cable", false)
		d.net.SetQuality("office", memnet.Quality{Delay: 1500 * time.Millisecond})
		d.open()
		d.pass(30 * time.Second)
		is.Equal(len(a.active(b)), 1)
		call := func() error {
			ctx, cancel := context.WithTimeout(d.t.Context(), 6*time.Second)
			defer cancel()
			return a.Call(ctx, b.id.Node, "peer.hello", reported{}, nil)
		}
		is.True(errors.Is(call(), api.ReasonUnreachable)) // not within that time
		d.pass(10 * time.Second)
		is.NoErr(call())
	})
}

func TestNotify(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		a, b := d.nodes[0], d.nodes[1]
		echo(b)
		var from atomic.Value
		a.HandleNotify("peer.changed", func(node api.NodeID, params json.RawMessage) { from.Store(string(node) + string(params)) })
		d.open()
		is.True(errors.Is(b.Notify(a.id.Node, "peer.changed", nil), api.ReasonNoPath)) // a has not called yet
		is.NoErr(a.Call(d.t.Context(), b.id.Node, "peer.hello", reported{}, nil))
		is.NoErr(b.Notify(a.id.Node, "peer.changed", map[string]int{"n": 1}))
		d.pass(time.Second)
		is.Equal(from.Load(), string(b.id.Node)+`{"n":1}`)
	})
}

func TestUnknownStream(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		d.open()
		_, err := d.nodes[0].Stream(d.t.Context(), d.nodes[1].id.Node, api.PeerConn{Carries: "from a later version"})
		is.True(errors.Is(err, api.ReasonUnreachable))
	})
}
