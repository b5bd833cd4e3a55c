package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/native/frame"
)

// liar changes the words that a node says.
func liar(change func(w *message)) func(net.Conn) net.Conn {
	return func(conn net.Conn) net.Conn { return &lyingConn{conn, change} }
}

type lyingConn struct {
	net.Conn
	change func(w *message)
}

func (c *lyingConn) Write(p []byte) (int, error) {
	var w message
	data, err := frame.Read(bytes.NewReader(p), frameLimit)
	if err != nil || w.read(data) != nil {
		return c.Conn.Write(p)
	}
	c.change(&w)
	if data, err = json.Marshal(w); err != nil {
		return 0, err
	}
	if _, err := c.Conn.Write(frame.Encode(data)); err != nil {
		return 0, err
	}
	return len(p), nil
}

func TestLies(t *testing.T) {
	count := func(change func(w *message)) func(w *message) {
		return func(w *message) {
			if w.Kind == kindCount {
				change(w)
			}
		}
	}
	total := func(change func(w *message)) func(w *message) {
		return func(w *message) {
			if w.Kind == kindTotal {
				change(w)
			}
		}
	}
	for name, lie := range map[string]func(w *message){
		"more bytes than were sent":        count(func(w *message) { w.Bytes *= 2 }),
		"far fewer bytes":                  count(func(w *message) { w.Bytes /= 10 }),
		"less time":                        count(func(w *message) { w.AtUS /= 2 }),
		"more time":                        count(func(w *message) { w.AtUS *= 2 }),
		"time that stands still":           count(func(w *message) { w.AtUS = 5 }),
		"time without end":                 count(func(w *message) { w.AtUS = 1 << 62 }),
		"counts that go backwards":         count(func(w *message) { w.Bytes = max(1<<24-w.Bytes, 0) }),
		"a total of more than was sent":    total(func(w *message) { w.Bytes = 1 << 60 }),
		"a total of less than was got":     total(func(w *message) { w.Bytes = 1 }),
		"words that do not belong there":   count(func(w *message) { w.Kind = kindEcho }),
		"words that nobody knows":          count(func(w *message) { w.Kind = "hello" }),
		"a count below nothing":            count(func(w *message) { w.Bytes = -w.Bytes }),
		"the end of what does not end yet": count(func(w *message) { w.Kind = kindTotal }),
	} {
		t.Run(name, func(t *testing.T) {
			wire := &narrow{rate: 4e8}
			hand := func(conn net.Conn) net.Conn { return liar(lie)(wire.hand(conn)) }
			within(t, at(studio, hand), func(r *rig) {
				is := is.New(r.t)
				_, err := r.measure(AmountFull)
				is.True(err != nil)
				want := api.ReasonPeerImplausible
				if name == "far fewer bytes" {
					want = api.ReasonResultUnstable
				}
				is.Equal(err.Data.Reason, want)
			})
		})
	}
}

// In a refresh, time is too short to know a lie from a busy machine.
func TestLiesInARefresh(t *testing.T) {
	wire := &narrow{rate: usualRate}
	lie := liar(func(w *message) { w.AtUS /= 20 })
	within(t, at(studio, func(conn net.Conn) net.Conn { return lie(wire.hand(conn)) }), func(r *rig) {
		is := is.New(r.t)
		_, err := r.measure(AmountRefresh)
		is.True(err != nil)
		is.True(err.Is(api.ReasonResultUnstable) || err.Is(api.ReasonPeerImplausible))
	})
}

// An answer to what was not asked yet would make round trips short.
func TestAnsweredBeforeAsked(t *testing.T) {
	in(t, at(studio, func(conn net.Conn) net.Conn { return &eagerConn{Conn: conn} }), func(r *rig) {
		is := is.New(r.t)
		_, err := r.measure(AmountRTT)
		is.True(err != nil)
		is.Equal(err.Data.Reason, api.ReasonPeerImplausible)
	})
}

// eagerConn answers one round trip more than it was asked.
type eagerConn struct {
	net.Conn
	once sync.Once
}

func (c *eagerConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if len(p) == frame.HeadBytes+echoBytes {
		c.once.Do(func() { _, err = c.Conn.Write(frame.Encode(echo{number: 2}.bytes())) })
	}
	return n, err
}

// stalling lets so many bytes pass, each way, and nothing after them.
func stalling(reads, writes int64) func(net.Conn) net.Conn {
	var in, out atomic.Int64
	return func(conn net.Conn) net.Conn {
		return &stallingConn{Conn: conn, in: &in, out: &out, reads: reads, writes: writes, done: make(chan struct{})}
	}
}

type stallingConn struct {
	net.Conn
	in, out       *atomic.Int64
	reads, writes int64
	once          sync.Once
	done          chan struct{}
}

func (c *stallingConn) Read(p []byte) (int, error) {
	if c.in.Load() > c.reads {
		<-c.done
		return 0, net.ErrClosed
	}
	n, err := c.Conn.Read(p)
	c.in.Add(int64(n))
	return n, err
}

func (c *stallingConn) Write(p []byte) (int, error) {
	if c.out.Load() > c.writes {
		<-c.done
		return 0, net.ErrClosed
	}
	c.out.Add(int64(len(p)))
	return c.Conn.Write(p)
}

func (c *stallingConn) Close() error {
	c.once.Do(func() { close(c.done) })
	return c.Conn.Close()
}

func TestStalls(t *testing.T) {
	for name, bytes := range map[string][2]int64{
		"in the round trips":       {1 << 40, 3000},
		"in receiving":             {10 << 20, 1 << 40},
		"in sending":               {1 << 40, 10 << 20},
		"right after it connected": {1 << 40, 1000},
	} {
		for _, node := range []api.NodeID{laptop, studio} {
			t.Run(name+" at "+string(node), func(t *testing.T) {
				in(t, at(node, stalling(bytes[0], bytes[1])), func(r *rig) {
					is := is.New(r.t)
					began := time.Now()
					result, err := r.measure(AmountFull)
					is.True(err != nil)
					is.True(time.Since(began) < 10*time.Second)
					if node == studio {
						is.Equal(err.Data.Reason, api.ReasonPeerStalled)
						is.True(err.Data.WaitingFor != "")
					}
					is.Equal(result.DownBitsPerS, nil)
					r.pass(leftAfter * 3 / 2) // both ends have noticed
				})
			})
		}
	}
}

// A connection that does not come about ends the measurement, not the others.
func TestOneConnectionDoesNotAnswer(t *testing.T) {
	for nth := range int32(7) { // the control connection, three up, three down
		var accepted atomic.Int32
		in(t, at(studio, func(conn net.Conn) net.Conn {
			if accepted.Add(1) == nth+1 {
				return stalling(-1, -1)(conn)
			}
			return conn
		}), func(r *rig) {
			is := is.New(r.t)
			path := there
			path.Streams = 3
			began := time.Now()
			result, err := r.laptop.Measure(r.t.Context(), m1, path, AmountRefresh, quiet)
			is.True(err != nil)
			is.True(api.AsError(err).Is(api.ReasonUnreachable))
			is.True(time.Since(began) < proveWithin+time.Second)
			is.Equal(result.RTTUS != nil, nth > 0)
			is.Equal(result.UpBitsPerS != nil, nth > 3)
			r.pass(leftAfter * 3 / 2)
		})
	}
}

func TestOtherIdentity(t *testing.T) {
	in(t, func(node api.NodeID, cfg *Config) {
		if node == studio {
			cfg.Key = key(third)
		}
	}, func(r *rig) {
		is := is.New(r.t)
		result, err := r.measure(AmountFull)
		is.True(err != nil)
		is.Equal(err.Data.Reason, api.ReasonWrongIdentity)
		is.Equal(result, Result{})
	})
}

// Who measures with another key than the member's gets nothing.
func TestMeasuredByAnother(t *testing.T) {
	in(t, func(node api.NodeID, cfg *Config) {
		if node == laptop {
			cfg.Key = key(third)
		}
	}, func(r *rig) {
		is := is.New(r.t)
		_, err := r.measure(AmountFull)
		is.True(err != nil)
		is.Equal(err.Data.Reason, api.ReasonProbeTokenInvalid)
	})
}

func TestSomethingElseAnswers(t *testing.T) {
	for _, c := range []struct {
		name    string
		reports []byte
		want    api.Reason
	}{
		{"nothing", nil, api.ReasonUnreachable},
		{"half a challenge", []byte{0, 0, 0, 32, 1}, api.ReasonUnreachable},
		{"http", []byte("HTTP/1.1 400 Bad Request\r\n\r\n"), api.ReasonWrongIdentity},
		{"no welcome", append(frame.Encode(make([]byte, nonceBytes)), frame.Encode([]byte("null"))...), api.ReasonWrongIdentity},
		{"no proof", append(frame.Encode(make([]byte, nonceBytes)), frame.Encode([]byte(`{"proof":"AAAA"}`))...), api.ReasonWrongIdentity},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, nil, func(r *rig) {
				is := is.New(r.t)
				l, err := r.network.Host(string(studio)).Listen(r.t.Context(), "en5", netip.AddrPortFrom(netip.Addr{}, 9))
				is.NoErr(err)
				defer l.Close()
				go func() {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					_, _ = conn.Write(c.reports)
					time.AfterFunc(time.Second, func() { conn.Close() })
				}()
				r.studio.cfg.Peers.HandleCall(gate.HandleMember(gate.Measure, func(context.Context, gate.Member, api.PeerMeasureParams) (any, error) {
					return api.PeerMeasureResult{Token: make([]byte, tokenBytes), Port: 9}, nil
				}))
				_, fault := r.measure(AmountFull)
				is.True(fault != nil)
				is.Equal(fault.Data.Reason, c.want)
				r.pass(time.Second)
			})
		})
	}
}

func TestGone(t *testing.T) {
	for _, c := range []struct {
		name   string
		before bool // it began
		do     func(r *rig)
		want   api.Reason
	}{
		{"the peer's daemon, before", true, func(r *rig) { r.scenario.Remove(studio) }, api.ReasonUnreachable},
		{"the cable, before", true, func(r *rig) { r.network.SetLAN("cable", false) }, api.ReasonUnreachable},
		{"the cable, in between", false, func(r *rig) { r.network.SetLAN("cable", false) }, api.ReasonPeerStalled},
		{"the interface, before", true, func(r *rig) { r.gone.Store(true); r.network.SetPlug(string(laptop), "en1", false) }, api.ReasonAddressLost},
		{"the interface, in between", false, func(r *rig) { r.gone.Store(true); r.network.SetPlug(string(laptop), "en1", false) }, api.ReasonAddressLost},
		{"the peer's daemon, in between", false, func(r *rig) { r.studio.Close() }, api.ReasonUnreachable},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, nil, func(r *rig) {
				is := is.New(r.t)
				if c.before {
					c.do(r)
				} else {
					time.AfterFunc(800*time.Millisecond, func() { c.do(r) })
				}
				began := time.Now()
				_, err := r.measure(AmountFull)
				is.True(err != nil)
				is.Equal(err.Data.Reason, c.want)
				is.True(time.Since(began) < 6*time.Second)
				r.pass(comeWithin)
			})
		})
	}
}

func TestNoLeave(t *testing.T) {
	in(t, func(node api.NodeID, cfg *Config) {
		cfg.Leave = func(context.Context, api.NodeID, api.PeerMeasureParams) (func(), error) {
			return nil, api.NewError(api.ReasonJobHasNode, "studio")
		}
	}, func(r *rig) {
		is := is.New(r.t)
		_, err := r.measure(AmountFull)
		is.True(err != nil)
		is.Equal(err.Data.Reason, api.ReasonJobHasNode)
		_, _, dials := r.network.Host(string(laptop)).Traffic()
		is.Equal(dials, int64(0))
	})
}
