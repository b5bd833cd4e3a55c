package transport

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/native/memnet"
)

// said is what the tests send.
type said struct {
	Text string `json:"text"`
}

// echo answers calls of peer.hello with who calls, and streams with what comes.
func echo(n *node) {
	n.handle(gate.Hello, func(_ context.Context, from api.NodeID, params json.RawMessage) (any, error) {
		var p said
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, err
		}
		switch p.Text {
		case "refuse":
			return nil, api.Errorf(api.ReasonSuspect, "x", "No.")
		case "panic":
			panic("a defect")
		}
		return said{from.String()}, nil
	})
	n.handle(gate.Put, func(ctx context.Context, _ api.NodeID, _ json.RawMessage) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	n.HandleStream(n.gate().BindStream(gate.ServeMember(gate.Stream, func(_ context.Context, _ gate.Member, _ api.PeerConn, c net.Conn) { io.Copy(c, c) })))
}

func TestCalls(t *testing.T) {
	within(t, 2, func(d *desk) {
		is := is.New(d.t)
		a, b := d.nodes[0], d.nodes[1]
		echo(b)
		d.open()
		var result said
		is.NoErr(a.Call(d.t.Context(), b.id.Node, "peer.hello", said{}, &result))
		is.Equal(result.Text, a.id.Node.String()) // TLS says who it is
		_, _, before := d.net.Host("host0").Traffic()
		for range 20 {
			is.NoErr(a.Call(d.t.Context(), b.id.Node, "peer.hello", said{}, &result))
		}
		_, _, after := d.net.Host("host0").Traffic()
		is.Equal(after, before) // over one connection

		err := a.Call(d.t.Context(), b.id.Node, "peer.hello", said{"refuse"}, &result)
		is.True(errors.Is(err, api.ReasonSuspect))
		is.Equal(api.AsError(err).Message, "No.")
		err = a.Call(d.t.Context(), b.id.Node, "peer.hello", said{"panic"}, &result)
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
	within(t, 2, func(d *desk) {
		is := is.New(d.t)
		a, b := d.nodes[0], d.nodes[1]
		echo(b)
		d.open()
		var result said
		is.NoErr(a.Call(d.t.Context(), b.id.Node, "peer.hello", said{}, &result))
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
		is.NoErr(a.Call(d.t.Context(), b.id.Node, "peer.hello", said{}, &result))
		d.net.SetLAN("office", false)
		d.pass(10 * time.Second)
		err = a.Call(d.t.Context(), b.id.Node, "peer.hello", said{}, &result)
		is.True(errors.Is(err, api.ReasonNoPath))
	})
}

// Calls that began on a worse path go over to a better one, and those that are
// under way are answered.
func TestCallsMoveToTheBestPath(t *testing.T) {
	within(t, 2, func(d *desk) {
		is := is.New(d.t)
		a, b := d.nodes[0], d.nodes[1]
		release := make(chan struct{})
		b.handle(gate.Hello, func(context.Context, api.NodeID, json.RawMessage) (any, error) { return said{}, nil })
		b.handle(gate.Pull, func(context.Context, api.NodeID, json.RawMessage) (any, error) {
			<-release
			return said{"late"}, nil
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

// calling is by which interface a node calls another one, and how many connections for
// that are retired.
func (n *node) calling(to *node) (iface string, retired int) {
	n.Transport.mu.Lock()
	defer n.Transport.mu.Unlock()
	s := n.peer(to.id.Node).calls
	return s.current.at.iface, len(s.retired)
}

// A cable that comes and goes, faster than connections are retired, leaves calls possible
// at every moment, over few connections.
func TestCallsOverACableThatComesAndGoes(t *testing.T) {
	within(t, 2, func(d *desk) {
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
				var result said
				is.NoErr(a.Call(d.t.Context(), b.id.Node, "peer.hello", said{}, &result))
				d.pass(100 * time.Millisecond)
				is.NoErr(a.Call(d.t.Context(), b.id.Node, "peer.hello", said{}, &result)) // by the better path
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
	within(t, 2, func(d *desk) {
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
			return a.Call(ctx, b.id.Node, "peer.hello", said{}, nil)
		}
		is.True(errors.Is(call(), api.ReasonUnreachable)) // not within that time
		d.pass(10 * time.Second)
		is.NoErr(call())
	})
}

func TestNotify(t *testing.T) {
	within(t, 2, func(d *desk) {
		is := is.New(d.t)
		a, b := d.nodes[0], d.nodes[1]
		echo(b)
		var from atomic.Value
		a.HandleNotify("peer.changed", func(node api.NodeID, params json.RawMessage) { from.Store(string(node) + string(params)) })
		d.open()
		is.True(errors.Is(b.Notify(a.id.Node, "peer.changed", nil), api.ReasonNoPath)) // a has not called yet
		is.NoErr(a.Call(d.t.Context(), b.id.Node, "peer.hello", said{}, nil))
		is.NoErr(b.Notify(a.id.Node, "peer.changed", map[string]int{"n": 1}))
		d.pass(time.Second)
		is.Equal(from.Load(), string(b.id.Node)+`{"n":1}`)
	})
}

func TestUnknownStream(t *testing.T) {
	within(t, 2, func(d *desk) {
		is := is.New(d.t)
		d.open()
		_, err := d.nodes[0].Stream(d.t.Context(), d.nodes[1].id.Node, api.PeerConn{Carries: "from a later version"})
		is.True(errors.Is(err, api.ReasonUnreachable))
	})
}
