package sidechannel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/peer"
	"fulmen/native"
	"fulmen/native/waker"
)

// rootAlone is a rank 0 of a group of some nodes, which nobody watches.
func rootAlone(nodes ...api.NodeID) *root {
	cfg := rules()
	cfg.Notify, cfg.Fail, cfg.Name = func(api.RankRef, api.Handshake) {}, func(api.RankRef, *api.Error) {}, func(id api.NodeID) string { return string(id) }
	r := &root{joiners: make([]*joiner, len(nodes)), woken: waker.New()}
	r.c, r.ch = &Channels{cfg: cfg}, request{Rank: rankOf(0), Epoch: 3, Nodes: nodes}
	r.ending, r.ended = context.WithCancel(context.Background())
	r.reporter = reporter{c: r.c, ref: r.ch.Rank, state: r.handshake}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// stream is that of a rank, and the other end of it.
func (r *root) stream(from api.NodeID, rank int, epoch uint64) (*joiner, net.Conn) {
	near, far := net.Pipe()
	return newJoiner(r.c, from, api.PeerConn{Rank: rankOf(rank), Epoch: epoch}, near), far
}

// isShut reports whether a connection was closed at its other end.
func isShut(conn net.Conn) bool {
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	_, err := conn.Read(make([]byte, 1))
	return errors.Is(err, io.EOF)
}

// Whose stream is taken, and in whose place.
func TestWhoseStreamIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			from   api.NodeID
			rank   int
			epoch  uint64
			change func(r *root, old *joiner)
			taken  bool
		}{
			"as planned":                 {"b", 1, 3, func(*root, *joiner) {}, true},
			"once rank 0 listens":        {"b", 1, 3, func(r *root, _ *joiner) { r.listens = true }, true},
			"of another epoch":           {"b", 1, 2, func(*root, *joiner) {}, false},
			"of another node":            {"a", 1, 3, func(*root, *joiner) {}, false},
			"of a rank too many":         {"b", 2, 3, func(*root, *joiner) {}, false},
			"after the end":              {"b", 1, 3, func(r *root, _ *joiner) { r.over = true }, false},
			"in place of one held":       {"b", 1, 3, func(r *root, old *joiner) { r.joiners[1] = old }, true},
			"beside one that is through": {"b", 1, 3, func(r *root, old *joiner) { r.joiners[1], old.through = old, true }, false},
		} {
			is := is.New(t)
			r := rootAlone("a", "b")
			old, held := r.stream("b", 1, 3)
			c.change(r, old)
			before := r.joiners[1]
			j, far := r.stream(c.from, c.rank, c.epoch)
			if r.attach(j) != c.taken || isShut(far) == c.taken {
				t.Errorf("%s: not as wanted", name)
			}
			is.True(!isShut(held))              // nothing was said on either
			is.Equal(len(r.woken) > 0, c.taken) // it is looked at once who is there
			if c.taken {
				is.Equal(r.joiners[1], j)
				is.Equal(j.flow.size, 2)
				is.Equal(string(j.out.bytes), map[bool]string{true: "l\x00\x00"}[r.listens])
			} else {
				is.Equal(r.joiners[1], before)
			}
			r.reporter.stop()
		}
	})
}

// TestOfTwoStreamsTheOneThatSpeaksCounts: a node that was not answered in time over one
// path has tried another one as well, and the one that it gave up may come last.
func TestOfTwoStreamsTheOneThatSpeaksCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		r := rootAlone("a", "b")
		kept, speaks := r.stream("b", 1, 3)
		given, up := r.stream("b", 1, 3)
		is.True(r.attach(kept) && r.attach(given))
		go kept.read()
		_, err := speaks.Write(appendFrames(nil, frameHere, nil))
		is.NoErr(err)
		synctest.Wait()
		is.Equal(r.joiners[1], kept)
		is.True(isShut(up) && !isShut(speaks) && r.awaits())
		later, _ := r.stream("b", 1, 3) // over another path, as the first may be dead
		is.True(r.attach(later))
		is.Equal(r.joiners[1], kept)
		later.here = true
		r.listens = true
		is.True(r.receivedBy(later) && isShut(speaks))
		is.Equal(r.joiners[1], later)
		is.Equal(string(later.out.bytes), "l\x00\x00")
		later.through = true
		is.True(!r.receivedBy(given))
		r.reporter.stop()
	})
}

// How far rank 0 is, and on whom it waits.
func TestHowFarRankZeroIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		r := rootAlone("a", "b", "c")
		state := func() string {
			h, _ := r.handshake()
			return fmt.Sprintf("%s %v %t %d", h.State, h.Missing, h.Severed, h.CarriedBytes)
		}
		is.Equal(state(), "none [1 2] false 0")
		is.True(!r.awaits() && !r.isWholeLocked())
		one, _ := r.stream("b", 1, 3)
		two, _ := r.stream("c", 2, 3)
		r.joiners[1], r.joiners[2] = one, two
		is.Equal(state(), "none [1 2] false 0") // neither program has called
		one.here = true
		is.Equal(state(), "none [2] false 0")
		is.True(r.awaits())
		two.here = true
		is.Equal(state(), "none [0] false 0") // all wait for it
		r.listens = true
		is.Equal(state(), "listening [0] false 0")
		one.through, one.here, one.flow.bytes = true, false, 5
		is.Equal(state(), "listening [0] false 5")
		near, _ := net.Pipe()
		one.program = near
		two.program, two.through, two.flow.bytes = near, true, 6
		is.True(r.isWholeLocked() && !r.awaits())
		is.Equal(state(), "connected [1 2] false 11") // of none anything has come
		one.flow.up = 4
		is.Equal(state(), "connected [2] false 11")
		one.flow.joined = true
		is.Equal(state(), "connected [2] false 11")
		two.flow.joined = true
		is.Equal(state(), "joined [] false 11")

		// The end of a program is passed on, and counts where it was joining.
		for _, c := range []struct {
			connected, ended, joined, severed bool
		}{{true, false, false, true}, {false, false, false, false}, {true, true, false, false}, {true, false, true, false}} {
			r := rootAlone("a", "b")
			j, _ := r.stream("b", 1, 3)
			j.ended, j.flow.joined = c.ended, c.joined
			if c.connected {
				j.program = near
			}
			reported := false
			r.c.cfg.Notify = func(_ api.RankRef, h api.Handshake) { reported = h.Severed && !j.inbox.closed }
			j.sever(r)
			is.Equal(r.severed, c.severed)
			is.Equal(reported, c.severed) // before rank 0's program hears it
			is.True(j.ended && j.inbox.closed)
			j.sever(nil) // nobody is there to hear it
			r.reporter.stop()
		}

		// The end of a stream is the end of a rank that was joining by it.
		for _, c := range []struct{ through, joined, ended, over, fails bool }{
			{true, false, false, false, true}, {false, false, false, false, false}, {true, true, false, false, false}, {true, false, true, false, false}, {true, false, false, true, false},
		} {
			r := rootAlone("a", "b")
			var failed []api.Reason
			r.c.cfg.Fail = func(_ api.RankRef, err *api.Error) { failed = append(failed, err.Data.Reason) }
			reported := 0
			r.c.cfg.Notify = func(api.RankRef, api.Handshake) { reported++ }
			j, _ := r.stream("b", 1, 3)
			j.root, j.here, j.through, j.flow.joined, j.ended = r, true, c.through, c.joined, c.ended
			if c.over {
				r.cancel()
			}
			j.lost()
			is.Equal(len(failed) > 0, c.fails)
			is.Equal(j.here, c.through)
			time.Sleep(notifyAfter)
			synctest.Wait()
			is.Equal(reported, 1) // whom rank 0 waits for now
			j.lost()
			is.True(len(failed) <= 1) // once
			r.reporter.stop()
		}
	})
}

// A rank that cannot be connected to rank 0 any more hears so by the end of its stream.
func TestARankThatComesTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		r := rootAlone("a", "b")
		r.cancel()
		j, _ := r.stream("b", 1, 3)
		is.True(!j.pass(r, number4(1)))
		is.True(!j.standing().connected)
	})
	synctest.Test(t, func(t *testing.T) { // its end is in the midst of that
		is := is.New(t)
		r := rootAlone("a", "b")
		near, program := net.Pipe()
		r.c.cfg.Group = func(api.RankRef) int { return 1 }
		r.c.cfg.Machine = endsAt{dial: func() net.Conn { r.cancel(); return near }}
		r.connecting, r.ch.Within = make(chan struct{}, 1), time.Minute
		j, _ := r.stream("b", 1, 3)
		is.True(!j.pass(r, number4(1)))
		is.True(!j.standing().connected)
		is.True(isShut(program)) // and is left with no connection
	})
}

// endsAt is a machine on which rank 0 listens, and something happens as it is called.
type endsAt struct {
	reported
	dial func() net.Conn
}

func (e endsAt) Listens(int, int, native.Listening) (native.Listening, error) {
	return native.Listening{Group: true, Room: 1}, nil
}
func (e endsAt) Dial(context.Context, int) (net.Conn, error) { return e.dial(), nil }

// It is looked again whom rank 0 has when the stream of a rank says anything.
func TestAStreamThatSpeaksIsLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		r := rootAlone("a", "b")
		j, far := r.stream("b", 1, 3)
		j.root = r
		go j.read()
		for _, kind := range []string{"h", "g"} {
			_, err := far.Write([]byte(kind + "\x00\x00"))
			is.NoErr(err)
			synctest.Wait()
			is.Equal(j.standing().waits, kind == "h")
			is.Equal(len(r.woken), 1)
			<-r.woken
		}
		far.Close()
		r.reporter.stop()
	})
}

// That rank 0 listens is told without a look more, here and to whoever waits for it.
func TestThatRankZeroListensIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		r := rootAlone("a", "b", "c")
		var reported []api.HandshakeState
		r.c.cfg.Notify = func(_ api.RankRef, h api.Handshake) { reported = append(reported, h.State) }
		j, _ := r.stream("b", 1, 3)
		r.joiners[1] = j // the other has not come
		r.opened()
		is.Equal(string(j.out.bytes), "l\x00\x00")
		time.Sleep(notifyAfter)
		synctest.Wait()
		is.Equal(reported, []api.HandshakeState{api.HandshakeListening})
	})
}

// A connection is made only where rank 0 was just seen to have room for one.
func TestRoomOfRankZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		r := rootAlone("a", "b")
		r.seen, r.seenAt = native.Listening{Group: true, Room: 1}, r.c.cfg.Clock.Boot()
		time.Sleep(lookAgain)
		is.True(r.hasRoom())
		is.True(!r.hasRoom()) // it is taken
		r.seen.Room = 2
		time.Sleep(time.Nanosecond)
		is.True(!r.hasRoom()) // that was too long ago
		r.seenAt = r.c.cfg.Clock.Boot()
		is.True(r.hasRoom())
		r.seen.Others = true
		is.True(!r.hasRoom())
		r.seen = native.Listening{Room: 2}
		is.True(!r.hasRoom())
		r.seen.Group = true
		is.True(r.hasRoom())
		r.forget()
		is.True(!r.hasRoom())
	})
}

// A stream that comes before its rank 0 waits for so long, and not once that is there.
func TestHowLongAStreamWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		r := rootAlone("a", "b")
		c := New(Config{Clock: r.c.cfg.Clock, Log: r.c.cfg.Log, Peers: nobody{}})
		waits, far := r.stream("b", 1, 3)
		is.True(c.admit(waits))
		time.Sleep(earlyWithin - time.Second)
		is.True(!isShut(far))
		time.Sleep(time.Second)
		synctest.Wait()
		is.True(isShut(far))
		c.leave(waits)
		is.Equal(len(c.early), 0)

		comes, far := r.stream("b", 1, 3)
		is.True(c.admit(comes))
		is.True(r.attach(c.takeEarlyLocked(rankOf(0))[0]))
		time.Sleep(2 * earlyWithin)
		synctest.Wait()
		is.True(!isShut(far))

		c.open[rankOf(0)] = r
		for len(r.woken) > 0 {
			<-r.woken
		}
		c.Spawned(rankOf(0))
		is.Equal(len(r.woken), 1) // it is looked at once whether it listens
		late, far := r.stream("b", 1, 3)
		is.True(c.admit(late))
		is.Equal(r.joiners[1], late)
		is.True(!isShut(far))
		for _, bad := range []int{0, -1} {
			j, _ := r.stream("b", bad, 3)
			is.True(!c.admit(j))
		}
		c.closed = true
		j, _ := r.stream("b", 1, 3)
		is.True(!c.admit(j))
		r.reporter.stop()
	})
}

// A stream that waits for its rank 0 ends with the channels.
func TestWaitingStreamsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		r := rootAlone("a", "b")
		c := New(Config{Clock: r.c.cfg.Clock, Log: r.c.cfg.Log, Peers: nobody{}})
		waits, far := r.stream("b", 1, 3)
		is.True(c.admit(waits))
		c.Shut()
		is.True(isShut(far))
	})
}

// nobody is no other node.
type nobody struct{ peer.Caller }

func (nobody) Stream(context.Context, api.NodeID, api.PeerConn) (net.Conn, error) {
	return nil, errors.New("nobody is there")
}
func (nobody) HandleStream(gate.StreamHandler) {}

// What a leaf knew of rank 0 ends with its stream: a program that calls then is held, and
// passed on over the next one.
func TestALeafWithoutAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		for _, c := range []struct {
			through, caller bool
			state           api.HandshakeState
			fails           bool
		}{{false, true, api.HandshakeHeld, false}, {true, true, api.HandshakeConnected, true}, {true, false, api.HandshakeConnected, false}, {true, true, api.HandshakeJoined, false}} {
			cfg := rules()
			var failed []api.Reason
			cfg.Fail, cfg.Name = func(_ api.RankRef, err *api.Error) { failed = append(failed, err.Data.Reason) }, func(id api.NodeID) string { return string(id) }
			l := &leaf{out: newOutbox(), listens: true, through: c.through, state: c.state}
			l.c, l.ch = &Channels{cfg: cfg}, request{Rank: rankOf(1), Nodes: []api.NodeID{"a", "b"}}
			l.flow.joined = c.state == api.HandshakeJoined
			if c.caller {
				l.caller = &caller{out: newOutbox(), held: number4(1)}
			}
			l.broken()
			is.Equal(len(failed) > 0, c.fails)
			is.True(l.out == nil && !l.listens)
			l.callInLocked()
			is.Equal(l.through, c.through) // nothing is passed to nobody
			l.out = newOutbox()
			l.callInLocked()
			is.Equal(l.through, c.through) // nor before rank 0 listens
			if !c.through {
				is.Equal(string(l.out.bytes), "h\x00\x00")
				l.listens = true
				l.passLocked(nil)
				is.True(l.through && l.caller.passed)
				is.Equal(string(l.out.bytes), "h\x00\x00d\x00\x04\x01\x00\x00\x00")
				l.passLocked(nil)
				is.Equal(len(l.out.bytes), 10) // once
			}
		}
	})
}

func number4(n byte) []byte { return []byte{n, 0, 0, 0} }

// How often it is looked whether rank 0 listens: often while it is new and somebody waits.
func TestHowOftenItLooks(t *testing.T) {
	for _, waits := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			is := is.New(t)
			r := rootAlone("a", "b")
			start := time.Now()
			r.c.cfg.Clock = native.ClockFrom(time.Now, func() time.Duration { return time.Hour + time.Since(start) })
			looks := &counting{}
			var group atomic.Int32
			r.c.cfg.Machine, r.c.cfg.Group = looks, func(api.RankRef) int { return int(group.Load()) }
			if waits {
				r.joiners[1], _ = r.stream("b", 1, 3)
				r.joiners[1].here = true
			}
			over := make(chan struct{})
			go func() { r.watch(); close(over) }()
			within := func(d, each time.Duration) {
				before := looks.count()
				time.Sleep(d)
				synctest.Wait()
				got := looks.count() - before
				want := int(d / each)
				is.True(got >= want-2 && got <= want+2)
			}
			time.Sleep(time.Second)
			is.Equal(looks.count(), 0) // no program runs
			group.Store(1)
			time.Sleep(lookIdle)
			synctest.Wait()
			if waits {
				within(time.Second, lookSoon)
				time.Sleep(lookHasten)
				within(time.Second, lookLater)
			} else {
				within(time.Second, lookLater)
				time.Sleep(lookHasten)
				within(time.Second, lookIdle)
			}
			looks.set(native.Listening{Group: true})
			time.Sleep(lookIdle)
			within(10*watchEvery, watchEvery)
			r.cancel()
			<-over
			r.reporter.stop()
		})
	}
}

// counting is a machine that counts who asks it.
type counting struct {
	reported
	mu  sync.Mutex
	n   int
	now native.Listening
}

func (c *counting) Listens(int, int, native.Listening) (native.Listening, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	return c.now, nil
}

func (c *counting) count() int { c.mu.Lock(); defer c.mu.Unlock(); return c.n }

func (c *counting) set(l native.Listening) { c.mu.Lock(); defer c.mu.Unlock(); c.now = l }
