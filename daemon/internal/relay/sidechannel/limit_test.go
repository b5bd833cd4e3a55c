package sidechannel_test

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/e2e/jaccl"
	"fulmen/native/memnet"
)

// raw is both ends of a channel that speaks no JACCL.
type raw struct {
	root, leaf interface {
		io.ReadWriteCloser
		SetReadDeadline(time.Time) error
	}
}

// rawPair joins two programs by a side channel and says nothing but the number.
func rawPair(t *testing.T, d *scenario) (r raw) {
	t.Helper()
	is := is.New(t)
	for rank := range 2 {
		at := d.open(ref(rank))
		n := d.nodes[rank].network()
		d.nodes[rank].spawned(ref(rank), n)
		if rank == 0 {
			l, err := n.Listen(at)
			is.NoErr(err)
			go func() {
				conn, err := l.Accept()
				if err == nil {
					r.root = conn
				}
				l.Close()
			}()
			continue
		}
		conn, err := n.Dial(t.Context(), at)
		is.NoErr(err)
		_, err = conn.Write(number(1))
		is.NoErr(err)
		r.leaf = conn
	}
	pass(tick)
	_, err := io.ReadFull(r.root, make([]byte, numberBytes))
	is.NoErr(err)
	return r
}

// received reads what arrived.
func received(t *testing.T, from interface {
	io.Reader
	SetReadDeadline(time.Time) error
}) (n int) {
	t.Helper()
	buffer := make([]byte, 64<<10)
	_ = from.SetReadDeadline(time.Now().Add(time.Second))
	for {
		got, err := from.Read(buffer)
		n += got
		if err != nil {
			if !isTimeout(err) {
				t.Fatal(err)
			}
			return n
		}
	}
}

// A channel carries a megabyte and no more; a rank that has not joined by then ends.
func TestAChannelCarriesSoMuch(t *testing.T) {
	bubble(t, 2, func(t *testing.T, d *scenario) {
		is := is.New(t)
		r := rawPair(t, d)
		const some = api.MaxSideChannelBytes / 4
		_, err := r.leaf.Write(make([]byte, some))
		is.NoErr(err)
		is.Equal(received(t, r.root), some)
		is.Equal(d.failure(ref(1)), api.Reason(""))
		_, err = r.root.Write(make([]byte, api.MaxSideChannelBytes))
		is.NoErr(err)
		is.True(received(t, r.leaf) <= api.MaxSideChannelBytes-some)
		is.Equal(d.failure(ref(0)), api.ReasonSideChannelLimit)
		is.True(d.failure(ref(1)) != api.ReasonSideChannelLimit) // which sent less
	})
}

// After its time a channel is silent, and open.
func TestAChannelIsSilentAfterItsTime(t *testing.T) {
	bubble(t, 2, func(t *testing.T, d *scenario) {
		is := is.New(t)
		r := rawPair(t, d)
		pass(2*time.Minute + time.Second)
		for _, way := range [][2]interface {
			io.ReadWriteCloser
			SetReadDeadline(time.Time) error
		}{{r.leaf, r.root}, {r.root, r.leaf}} {
			_, err := way[0].Write([]byte("hello"))
			is.NoErr(err)
			is.Equal(received(t, way[1]), 0) // and no end
		}
		is.NoErr(r.leaf.Close())
		_ = r.root.SetReadDeadline(time.Now().Add(2 * time.Second))
		_, err := r.root.Read(make([]byte, 1))
		is.Equal(err, io.EOF)
	})
}

// A program that has said its last and hears nothing keeps no channel open.
func TestAProgramThatHearsNothing(t *testing.T) {
	bubble(t, 2, func(t *testing.T, d *scenario) {
		is := is.New(t)
		r := rawPair(t, d)
		_, err := r.root.Write(make([]byte, api.MaxSideChannelBytes/2)) // more than is on its way at once
		is.NoErr(err)
		pass(tick)
		is.NoErr(r.leaf.(*memnet.Conn).CloseWrite())
		pass(tick)
		d.nodes[1].channels.Close(ref(1))
		pass(time.Minute)
		is.Equal(len(d.nodes[1].ports), 0)
	})
}

// A handshake of a kind that is not known counts as through when it has rested.
func TestAnUnknownHandshakeCountsAsThroughWhenItRests(t *testing.T) {
	bubble(t, 2, func(t *testing.T, d *scenario) {
		is := is.New(t)
		r := rawPair(t, d)
		for range 3 {
			_, err := r.leaf.Write([]byte("what later versions say"))
			is.NoErr(err)
			is.Equal(received(t, r.root), 23)
			_, err = r.root.Write([]byte("and answer"))
			is.NoErr(err)
			is.Equal(received(t, r.leaf), 10)
		}
		_, err := r.root.Write(make([]byte, 100))
		is.NoErr(err)
		is.Equal(received(t, r.leaf), 100)
		is.Equal(d.handshake(ref(1)).State, api.HandshakeConnected)
		pass(10 * time.Second)
		is.Equal(d.handshake(ref(1)).State, api.HandshakeJoined)
		is.Equal(d.handshake(ref(0)).State, api.HandshakeJoined)
	})
}

// A handshake of a kind that is not known, which an end cut short, is not through however
// long it rests.
func TestAnUnknownHandshakeThatEnds(t *testing.T) {
	for name, who := range map[string]int{"at rank 0": 0, "at the other": 1} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 2, func(t *testing.T, d *scenario) {
				is := is.New(t)
				r := rawPair(t, d)
				_, err := r.leaf.Write([]byte("what later versions say"))
				is.NoErr(err)
				is.Equal(received(t, r.root), 23)
				_, err = r.root.Write(make([]byte, 100))
				is.NoErr(err)
				is.Equal(received(t, r.leaf), 100)
				pass(5 * time.Second)
				is.NoErr([]io.Closer{r.root, r.leaf}[who].Close())
				pass(time.Minute)
				for rank := range 2 {
					is.True(d.handshake(ref(rank)).State != api.HandshakeJoined)
				}
			})
		})
	}
}

// A cut while a rank is held costs nothing but its time.
func TestACutWhileARankIsHeld(t *testing.T) {
	for _, long := range []time.Duration{2 * time.Second, time.Minute} {
		bubble(t, 3, func(t *testing.T, d *scenario) {
			is := is.New(t)
			one, two := d.start(ref(1)), d.start(ref(2))
			at := d.open(ref(0))
			pass(tick)
			d.line(d.plan[0], d.plan[1]).SetCut(true)
			root := d.run(ref(0), at, nil)
			pass(long)
			is.Equal(d.handshake(ref(0)).State, api.HandshakeListening)
			d.line(d.plan[0], d.plan[1]).SetCut(false)
			pass(15 * time.Second)
			for _, p := range []*program{root, one, two} {
				p.joins(t)
			}
		})
	}
}

// A cut in the midst of the handshake ends the ranks that it parts, with the reason,
// as soon as it is noticed, and takes nothing for joined that is not.
func TestACutDuringTheHandshake(t *testing.T) {
	for _, step := range []jaccl.Step{jaccl.StepNumbered, jaccl.StepDescribed} {
		bubble(t, 3, func(t *testing.T, d *scenario) {
			is := is.New(t)
			at := func(_ *program, s jaccl.Step) {
				if s == step {
					d.line(d.plan[0], d.plan[1]).SetCut(true)
				}
			}
			root := d.run(ref(0), d.open(ref(0)), at)
			one, two := d.start(ref(1)), d.start(ref(2))
			pass(30 * time.Second)
			// Where all that rank 1 had to say came before the cut, rank 0 and 2 are through:
			// rank 1 waits for the last answer.
			through := d.handshake(ref(0)).State == api.HandshakeJoined
			is.True(!through || step == jaccl.StepDescribed)
			if !through {
				is.Equal(d.failure(ref(0)), api.ReasonSideChannelLost)
			}
			is.Equal(d.failure(ref(1)), api.ReasonSideChannelLost)
			is.Equal(d.failure(ref(2)), api.Reason(""))
			is.True(d.handshake(ref(1)).State != api.HandshakeJoined)
			for _, p := range []*program{root, one, two} {
				is.Equal(len(p.ended), 0) // each hangs or waits for the others' work, as without: its home ends it
				is.True(through || d.handshake(p.ref).State != api.HandshakeJoined)
			}
		})
	}
}

// Daemons that end in the midst of a handshake break it, for the ranks of others too.
func TestADaemonThatEndsDuringTheHandshake(t *testing.T) {
	bubble(t, 3, func(t *testing.T, d *scenario) {
		is := is.New(t)
		d.start(ref(0))
		d.start(ref(1))
		pass(tick)
		is.Equal(d.handshake(ref(1)).State, api.HandshakeConnected)
		d.nodes[1].channels.Shut()
		pass(tick)
		is.Equal(d.failure(ref(0)), api.ReasonSideChannelLost)
		// The home adds where rank 0 is: both ends are named.
		is.True(strings.HasPrefix(d.failed(ref(0)).Message, "The connection of rank 0 to ") && strings.HasSuffix(d.failed(ref(0)).Message, ", on which rank 1 joined the group, broke."))
	})
}

// A rank has one connection: another one of its program is reset once it says the number,
// and where it says nothing, after a time. So is one that comes when the channel is silent.
func TestARankHasOneConnection(t *testing.T) {
	isOpen := func(t *testing.T, conn net.Conn) bool {
		t.Helper()
		if err := conn.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
			return false
		}
		_, err := conn.Read(make([]byte, 1))
		return isTimeout(err)
	}
	for name, c := range map[string]struct {
		before func(is *is.I, d *scenario, own *network, at string) // what of the rank was there
		quiet  bool                                                 // one that says nothing is let be
	}{
		"while another is held": {func(is *is.I, d *scenario, own *network, at string) {
			conn, err := own.Dial(d.t.Context(), at)
			is.NoErr(err)
			_, err = conn.Write(number(1))
			is.NoErr(err)
			pass(tick)
			is.Equal(d.handshake(ref(1)).State, api.HandshakeHeld)
		}, false},
		"after another was passed on": {func(is *is.I, d *scenario, own *network, at string) {
			zero := d.nodes[0].network()
			d.nodes[0].spawned(ref(0), zero)
			_, err := zero.Listen(d.open(ref(0)))
			is.NoErr(err)
			conn, err := own.Dial(d.t.Context(), at)
			is.NoErr(err)
			_, err = conn.Write(number(1))
			is.NoErr(err)
			pass(tick)
			is.Equal(d.handshake(ref(1)).State, api.HandshakeConnected)
			is.NoErr(conn.Close())
			pass(tick)
		}, false},
		"when the channel is silent": {func(*is.I, *scenario, *network, string) { pass(2*time.Minute + time.Second) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 2, func(t *testing.T, d *scenario) {
				is := is.New(t)
				at, own := d.open(ref(1)), d.nodes[1].network()
				d.nodes[1].spawned(ref(1), own)
				c.before(is, d, own, at)
				silent, err := own.Dial(t.Context(), at)
				is.NoErr(err)
				second, err := own.Dial(t.Context(), at)
				is.NoErr(err)
				is.True(isOpen(t, silent) && isOpen(t, second))
				state := d.handshake(ref(1))
				_, err = second.Write(number(1))
				is.NoErr(err)
				pass(tick)
				is.True(!isOpen(t, second))
				is.Equal(d.handshake(ref(1)), state)
				pass(9 * time.Second)
				is.True(isOpen(t, silent))
				pass(time.Second)
				is.Equal(isOpen(t, silent), c.quiet)
				is.Equal(d.failure(ref(1)), api.Reason(""))
				own.kill()
			})
		})
	}
}

// The end of a program's channel is kept from the other end for a second, in which what
// ended the rank is told first; where the rank is known to have ended, it is not kept.
func TestAnEndIsKeptBack(t *testing.T) {
	for name, c := range map[string]struct {
		rank  int // whose program ends
		known bool
	}{"of rank 0": {0, false}, "of a rank": {1, false}, "of rank 0, known to have ended": {0, true}, "of a rank, known to have ended": {1, true}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 2, func(t *testing.T, d *scenario) {
				is := is.New(t)
				r := rawPair(t, d)
				ends, receives := r.leaf, r.root
				if c.rank == 0 {
					ends, receives = r.root, r.leaf
				}
				is.NoErr(ends.Close())
				if c.known {
					d.nodes[c.rank].channels.Close(ref(c.rank))
				}
				ended := func() bool {
					is.NoErr(receives.SetReadDeadline(time.Now().Add(time.Millisecond)))
					_, err := receives.Read(make([]byte, 1))
					return err == io.EOF
				}
				pass(900 * time.Millisecond)
				is.Equal(ended(), c.known)
				is.Equal(len(d.nodes[c.rank].ports) == 0, c.known) // all of it is over
				pass(tick)
				is.True(ended())
			})
		})
	}
}

// What a program said that ended while it was held is nothing of the one that takes its
// place.
func TestAProgramTakesThePlaceOfAHeldOne(t *testing.T) {
	bubble(t, 2, func(t *testing.T, d *scenario) {
		is := is.New(t)
		at, first := d.open(ref(1)), d.nodes[1].network()
		d.nodes[1].spawned(ref(1), first)
		conn, err := first.Dial(t.Context(), at)
		is.NoErr(err)
		_, err = conn.Write(number(1))
		is.NoErr(err)
		pass(tick)
		_, err = conn.Write([]byte{1, 2})
		is.NoErr(err)
		pass(tick)
		is.Equal(d.handshake(ref(1)).State, api.HandshakeHeld)
		first.kill()
		pass(tick)
		is.Equal(d.handshake(ref(1)).State, api.HandshakeNone)
		second, root := d.run(ref(1), at, nil), d.start(ref(0))
		pass(tick)
		second.joins(t)
		root.joins(t)
		is.Equal(d.handshake(ref(1)).State, api.HandshakeJoined)
	})
}

// A node's stream ends when what it came over does, and when it says what nobody says,
// whether it hears what it is told or not.
func TestAStreamIsLetGoOf(t *testing.T) {
	for name, end := range map[string]func(cancel func(), near net.Conn){
		"what it came over ended":  func(cancel func(), _ net.Conn) { cancel() },
		"it says what nobody says": func(_ func(), near net.Conn) { _, _ = near.Write([]byte("x\x00\x00")) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 2, func(t *testing.T, d *scenario) {
				is := is.New(t)
				zero := d.nodes[0]
				program := zero.network()
				_, err := program.Listen(d.open(ref(0)))
				is.NoErr(err)
				zero.spawned(ref(0), program)
				pass(tick)
				is.Equal(d.handshake(ref(0)).State, api.HandshakeListening)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				near, far := net.Pipe() // which holds up whoever writes what is not read
				over := make(chan struct{})
				go func() {
					zero.handler(ctx, d.plan[1], api.PeerConn{Carries: api.ConnSideChannel, Rank: ref(1), Epoch: 1}, far)
					close(over)
				}()
				pass(tick)
				end(cancel, near)
				pass(tick)
				select {
				case <-over:
				default:
					t.Error("it is served still")
					near.Close()
				}
			})
		})
	}
}

// So many connections of a rank may be about to say its number; one more is reset, and
// one that goes makes room.
func TestConnectionsThatSayNothingAreBounded(t *testing.T) {
	bubble(t, 2, func(t *testing.T, d *scenario) {
		is := is.New(t)
		const most = 16
		at, own := d.open(ref(1)), d.nodes[1].network()
		d.nodes[1].spawned(ref(1), own)
		call := func() net.Conn {
			conn, err := own.Dial(t.Context(), at)
			is.NoErr(err)
			return conn
		}
		isOpen := func(conn net.Conn) bool {
			is.NoErr(conn.SetReadDeadline(time.Now().Add(time.Second)))
			_, err := conn.Read(make([]byte, 1))
			return isTimeout(err)
		}
		var all []net.Conn
		for range most {
			all = append(all, call())
			is.True(isOpen(all[len(all)-1]))
		}
		is.True(!isOpen(call()))
		for _, conn := range all {
			is.True(isOpen(conn))
		}
		is.NoErr(all[0].Close())
		pass(tick)
		is.True(isOpen(call()))
		is.True(!isOpen(call()))
		own.kill()
	})
}
