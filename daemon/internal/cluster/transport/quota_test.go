package transport

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/native/frame"
)

// opens has a node open a connection to another one as a member that keeps to no
// quota of its own.
func (d *scenario) opens(from, to *node, kind api.PeerConnKind) net.Conn {
	d.t.Helper()
	conn, _, err := from.dial(d.t.Context(), to.id.Node, way{"en0", d.candidates(to)[0].Address}, netip.Addr{}, api.PeerConn{Carries: kind, Protocol: api.Protocol})
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { abort(conn) })
	return conn
}

// Connections that say nothing end the oldest of their like, and keep no member out.
func TestSilentCallersKeepNobodyOut(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		a, b := d.nodes[0], d.nodes[1]
		echo(b)
		d.net.Attach("stranger", "en0", "office", netip.MustParseAddr("10.0.0.99"))
		d.open()
		tried, failed := 0, 0
		for i := range 20 * 30 {
			c, err := d.net.Host("stranger").Dial(d.t.Context(), "en0", netip.Addr{}, netip.MustParseAddrPort("10.0.0.2:7732"))
			is.NoErr(err)
			defer c.Close()
			if d.pass(50 * time.Millisecond); i%10 == 0 {
				tried++
				conn, err := a.Stream(d.t.Context(), b.id.Node, api.PeerConn{Carries: api.ConnStream})
				if err != nil {
					failed++
					continue
				}
				conn.Close()
			}
			b.greeting.mu.Lock()
			is.True(len(b.greeting.conns) <= api.MaxHalfOpen)
			b.greeting.mu.Unlock()
		}
		is.Equal(failed, 0)
		is.Equal(tried, 60)
	})
}

// endpointOf serves the connections of a kind, and throws away what they carry; false where
// nothing serves them.
func endpointOf(k api.PeerConnKind) (gate.StreamHandler, bool) {
	discard := func(c net.Conn) { io.Copy(io.Discard, c) }
	person := func(_ context.Context, _ gate.Acting, _ error, _ api.PeerConn, c net.Conn) { discard(c) }
	switch k {
	case api.ConnStream:
		return gate.ServeMember(gate.Stream, func(_ context.Context, _ gate.Member, _ api.PeerConn, c net.Conn) { discard(c) }), true
	case api.ConnSideChannel:
		return gate.ServeMember(gate.SideChannel, func(_ context.Context, _ gate.Member, _ api.PeerConn, c net.Conn) { discard(c) }), true
	case api.ConnFiles:
		return gate.ServeRank(gate.Files, func(_ context.Context, _ gate.RankNode, _ error, _ api.PeerConn, c net.Conn) { discard(c) }), true
	case api.ConnOutput:
		return gate.ServePerson(gate.Output, person), true
	case api.ConnInput:
		return gate.ServePerson(gate.Input, person), true
	case api.ConnPublish:
		return gate.ServePerson(gate.Publish, person), true
	}
	return gate.StreamHandler{}, false
}

// One member has so many connections of each kind and in all; those of others, and of
// other kinds, are taken.
func TestConnectionsOfOneMemberAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of handshakes")
	}
	within(t, 3, func(d *scenario) {
		is := is.New(d.t)
		hostile, victim, other := d.nodes[0], d.nodes[1], d.nodes[2]
		echo(victim)
		for _, kind := range api.PeerConnKind("").Values() {
			if endpoint, is := endpointOf(api.PeerConnKind(kind)); is {
				victim.HandleStream(victim.gate().BindStream(endpoint))
			}
		}
		d.open()
		used := func() (all int, conns map[api.PeerConnKind]int) {
			victim.Transport.mu.Lock()
			defer victim.Transport.mu.Unlock()
			u := victim.usedByLocked(hostile.id.Node)
			return u.connected, u.conns
		}
		var open []net.Conn
		for range 2 {
			for _, kind := range api.PeerConnKind("").Values() {
				k := api.PeerConnKind(kind)
				if _, isEndpoint := endpointOf(k); !isEndpoint && k != api.ConnPackets && k != api.ConnCalls {
					continue
				}
				for range k.ConnQuota() {
					open = append(open, d.opens(hostile, victim, k))
				}
				d.pass(100 * time.Millisecond)
				if k != api.ConnPackets && k != api.ConnCalls { // those who have answered
					conn := d.opens(hostile, victim, k)
					reported, err := frame.Read(conn, 1)
					is.NoErr(err)
					is.Equal(reported, refused)
				}
			}
		}
		all, conns := used()
		is.Equal(all, api.MaxMemberConns)
		for kind, n := range conns {
			is.True(n <= kind.ConnQuota()) // of a kind
		}
		_, err := hostile.Stream(d.t.Context(), victim.id.Node, api.PeerConn{Carries: api.ConnStream})
		is.True(errors.Is(err, api.ReasonTooManyConnections))
		conn, err := other.Stream(d.t.Context(), victim.id.Node, api.PeerConn{Carries: api.ConnStream})
		is.NoErr(err)
		conn.Close()
		for _, c := range open {
			abort(c)
		}
		d.pass(time.Minute)
		conn, err = hostile.Stream(d.t.Context(), victim.id.Node, api.PeerConn{Carries: api.ConnStream})
		is.NoErr(err)
		conn.Close()
	})
}

// What a pulled cable has left behind keeps no member from calling: its newest connection
// for calls is taken, and the oldest ends.
func TestTheNewestCallerIsHeard(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		a, b := d.nodes[0], d.nodes[1]
		echo(b)
		d.open()
		first := d.opens(a, b, api.ConnCalls)
		reported, err := frame.Read(first, 1)
		is.NoErr(err)
		is.Equal(reported, accepted)
		newest := first
		for range 3 * api.ConnCalls.ConnQuota() {
			newest = d.opens(a, b, api.ConnCalls)
			reported, err := frame.Read(newest, 1)
			is.NoErr(err)
			is.Equal(reported, accepted)
		}
		_, err = frame.Read(first, 1)
		is.True(err != nil) // it has ended
		m, err := asks(newest, "peer.hello", `{"text":""}`)
		is.NoErr(err)
		is.True(m.Error == nil)
		d.pass(time.Second)
		b.Transport.mu.Lock()
		u := *b.usedByLocked(a.id.Node)
		b.Transport.mu.Unlock()
		is.Equal(u.conns[api.ConnCalls], api.ConnCalls.ConnQuota())
		is.Equal(len(u.callers), api.ConnCalls.ConnQuota())
		is.Equal(u.connected, api.ConnCalls.ConnQuota()+u.conns[api.ConnPackets])
	})
}

// A frame that was begun is over in time, or its connection is; silence between frames
// may be of any length.
func TestHalfFramesEnd(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		a, b := d.nodes[0], d.nodes[1]
		echo(b)
		d.open()
		half := frame.Encode(make([]byte, api.MaxMessageBytes))[:api.MaxMessageBytes]
		var conns []net.Conn
		for _, sent := range [][]byte{half[:1], half[:frame.HeadBytes], half, nil} {
			conn := d.opens(a, b, api.ConnCalls)
			reported, err := frame.Read(conn, 1)
			is.NoErr(err)
			is.Equal(reported, accepted)
			for len(sent) > 0 {
				n := min(len(sent), pieceBytes)
				_, err := conn.Write(sent[:n])
				is.NoErr(err)
				sent = sent[n:]
			}
			conns = append(conns, conn)
		}
		link := d.opens(a, b, api.ConnPackets)
		own := greeting{Session: a.session, Port: a.Port(), Dial: a.dials.Add(1), Hello: a.options.Hello()}
		own.Hello.Interface = "en9"
		is.NoErr(writeJSON(link, own))
		is.NoErr(readJSON(link, firstBytes, &own))
		_, err := link.Write([]byte{0, 0, 0, 9, framePing})
		is.NoErr(err)
		conns = append(conns[:3:3], link, conns[3])
		d.pass(frameWithin / 2)
		ended := func(c net.Conn) bool {
			is.NoErr(c.SetReadDeadline(time.Now().Add(time.Millisecond)))
			_, err := io.Copy(io.Discard, c)
			var isTimeout net.Error
			return !errors.As(err, &isTimeout) || !isTimeout.Timeout()
		}
		for _, c := range conns {
			is.True(!ended(c))
		}
		d.pass(frameWithin)
		for i, c := range conns {
			is.Equal(ended(c), i < 4)
		}
		d.pass(time.Hour)
		is.True(!ended(conns[4]))
		var result reported
		is.NoErr(a.Call(d.t.Context(), b.id.Node, "peer.hello", reported{}, &result))
	})
}

// reports sends a call on a connection for calls.
func reports(conn net.Conn, method, params string) error {
	text, err := requestRPC([]byte("1"), method, json.RawMessage(params))
	if err != nil {
		return err
	}
	return writeFrame(conn, text)
}

// asks sends one and gives its answer.
func asks(conn net.Conn, method, params string) (rpcMessage, error) {
	if err := reports(conn, method, params); err != nil {
		return rpcMessage{}, err
	}
	raw, err := frame.Read(conn, api.MaxMessageBytes)
	if err != nil {
		return rpcMessage{}, err
	}
	return parseRPC(raw)
}

// Who calls too often is told so, a few times a second, while others are answered,
// and is answered again when it has waited.
func TestCallsOfOneMemberAreBounded(t *testing.T) {
	for _, tt := range []struct {
		name, method, params string
		answered             int // at most, at once
	}{
		{"small ones", "peer.hello", `{"text":""}`, api.MemberCallBurst},
		{"large ones", "peer.hold", `{"text":"` + strings.Repeat("x", 512<<10) + `"}`, api.MemberCallBurst / 128},
		{"dear ones", "peer.digest", `{"text":""}`, api.MemberCallBurst / 20},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if testing.Short() && len(tt.params) > 1<<10 {
				t.Skip("a hundred megabytes are ciphered")
			}
			within(t, 3, func(d *scenario) {
				is := is.New(d.t)
				hostile, victim, other := d.nodes[0], d.nodes[1], d.nodes[2]
				echo(victim)
				victim.handle(gate.Hold, func(context.Context, api.NodeID, json.RawMessage) (any, error) { return reported{}, nil })
				victim.handle(gate.Digest, func(context.Context, api.NodeID, json.RawMessage) (any, error) { return reported{}, nil })
				d.open()
				conn := d.opens(hostile, victim, api.ConnCalls)
				_, err := frame.Read(conn, 1)
				is.NoErr(err)
				answered, tooMany := 0, 0
				began := time.Now()
				for tooMany < 20 {
					is.True(answered < 2*api.MemberCallBurst)
					m, err := asks(conn, tt.method, tt.params)
					is.NoErr(err)
					if m.Error == nil {
						answered++
						continue
					}
					is.True(errors.Is(m.Error.err(), api.ReasonTooManyCalls))
					is.True(errors.Is(m.Error.err(), api.CodeExhausted))
					tooMany++
					var result reported
					at := time.Now()
					is.NoErr(other.Call(d.t.Context(), victim.id.Node, "peer.hello", reported{}, &result))
					is.True(time.Since(at) < time.Second)
				}
				took := time.Since(began)
				t.Logf("%d answered, 20 refused in %v", answered, took)
				is.True(answered >= tt.answered*9/10 && answered <= tt.answered+int(took.Seconds()*api.MemberCallRate))
				is.True(took >= 19*unreadFor)
				d.pass(time.Minute)
				m, err := asks(conn, tt.method, tt.params)
				is.NoErr(err)
				is.True(m.Error == nil)
			})
		})
	}
}

// What a member's calls hold at once is bounded over all its connections.
func TestCallsAtOnceOfOneMemberAreBounded(t *testing.T) {
	for name, test := range map[string]struct {
		method string
		size   int
	}{"by number": {"peer.measure", 10}, "by bytes": {"peer.put", 900 << 10}} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && test.size > 1<<10 {
				t.Skip("a hundred megabytes are ciphered")
			}
			within(t, 3, func(d *scenario) {
				is := is.New(d.t)
				hostile, victim, other := d.nodes[0], d.nodes[1], d.nodes[2]
				echo(victim)
				victim.handle(gate.Measure, func(ctx context.Context, _ api.NodeID, _ json.RawMessage) (any, error) {
					<-ctx.Done()
					return nil, ctx.Err()
				})
				d.open()
				params := `"` + strings.Repeat("x", test.size) + `"`
				refused := 0
				for range api.ConnCalls.ConnQuota() {
					conn := d.opens(hostile, victim, api.ConnCalls)
					_, err := frame.Read(conn, 1)
					is.NoErr(err)
					go func() {
						for {
							if _, err := frame.Read(conn, api.MaxMessageBytes); err != nil {
								return
							}
							refused++
						}
					}()
					go func() {
						for range callsAtOnce { // none of them ends
							if reports(conn, test.method, params) != nil {
								return
							}
						}
					}()
					d.pass(10 * time.Second)
				}
				victim.Transport.mu.Lock()
				u := *victim.usedByLocked(hostile.id.Node)
				victim.Transport.mu.Unlock()
				is.True(u.calls <= api.MaxMemberCalls && u.callBytes <= api.MaxMemberCallBytes)
				is.True(u.calls == api.MaxMemberCalls || u.callBytes > api.MaxMemberCallBytes*3/4)
				is.True(refused > 0)
				var result reported
				is.NoErr(other.Call(d.t.Context(), victim.id.Node, "peer.hello", reported{}, &result))
			})
		})
	}
}
