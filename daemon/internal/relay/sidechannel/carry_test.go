package sidechannel

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// flowedLocked looks how far the rank has come. The caller holds mu, where somebody else
// looks.
func (l *leaf) flowedLocked() { l.flow.settleLocked(l.c.cfg.Clock, &l.mu, l.notify) }

// leafAlone is a rank 1 of two, and what it was failed for.
func leafAlone(state api.HandshakeState) (*leaf, func() []api.Reason) {
	cfg := rules()
	var mu sync.Mutex
	var failed []api.Reason
	cfg.Fail = func(_ api.RankRef, err *api.Error) {
		mu.Lock()
		defer mu.Unlock()
		failed = append(failed, err.Data.Reason)
	}
	cfg.Notify, cfg.Name = func(api.RankRef, api.Handshake) {}, func(id api.NodeID) string { return string(id) }
	l := &leaf{state: state, out: newOutbox()}
	l.c, l.ch = &Channels{cfg: cfg}, request{Rank: rankOf(1), Nodes: []api.NodeID{"a", "b"}}
	l.flow.size, l.flow.joined = 2, state == api.HandshakeJoined
	l.ending, l.ended = context.WithCancel(context.Background())
	l.reporter = reporter{c: l.c, ref: l.ch.Rank, state: l.handshake, reported: api.Handshake{State: state}}
	return l, func() []api.Reason { synctest.Wait(); mu.Lock(); defer mu.Unlock(); return failed }
}

// A rank's own end carries so much, and nothing after its time; beyond it the rank fails,
// unless it has joined.
func TestWhatALeafCarries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, state := range []api.HandshakeState{api.HandshakeConnected, api.HandshakeJoined} {
			is := is.New(t)
			l, failed := leafAlone(state)
			is.True(l.carryLocked(api.MaxSideChannelBytes, true))
			is.Equal(len(failed()), 0)
			is.True(!l.carryLocked(1, true))
			is.True(!l.carryLocked(1, true)) // silent from then on
			is.Equal(l.flow.bytes, int64(api.MaxSideChannelBytes+1))
			is.Equal(len(failed()), map[api.HandshakeState]int{api.HandshakeConnected: 1}[state])
			for range 2 {
				l.fail(api.NewError(api.ReasonSideChannelLost, ""))
			}
			is.Equal(len(failed()), 1) // whatever comes after the first
			received, failed := leafAlone(state)
			received.caller = &caller{out: newOutbox()}
			received.received(frameData, make([]byte, api.MaxSideChannelBytes+1))
			is.Equal(failed(), map[api.HandshakeState][]api.Reason{api.HandshakeConnected: {api.ReasonSideChannelLost}}[state]) // rank 0 has sent it
			received.reporter.stop()
			hushed, failed := leafAlone(state)
			hushed.stopCarrying()
			is.True(!hushed.carryLocked(1, true))
			is.Equal(hushed.flow.bytes, int64(0))
			is.Equal(len(failed()), 0)
		}
	})
}

// What a leaf hears from rank 0's node, in each state of its program.
func TestWhatALeafHears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		l, _ := leafAlone(api.HandshakeHeld)
		who := &caller{out: newOutbox(), held: number4(1)}
		l.caller = who
		l.reported(who, []byte("x")) // held: it waits with the number
		is.Equal(string(who.held), "\x01\x00\x00\x00x")
		is.Equal(len(l.out.bytes), 0)
		l.reported(&caller{}, []byte("of another"))
		is.Equal(l.flow.bytes, int64(1))
		l.received(frameListens, nil)
		is.True(l.listens && l.through)
		is.Equal(string(l.out.bytes), "d\x00\x05\x01\x00\x00\x00x")
		l.reported(who, []byte("y"))
		is.Equal(string(l.out.bytes), "d\x00\x05\x01\x00\x00\x00xd\x00\x01y")
		l.received(frameConnected, nil)
		is.Equal(l.state, api.HandshakeConnected)
		l.received(frameData, []byte("back"))
		is.Equal(string(who.out.bytes), "back")
		is.Equal(l.flow.bytes, int64(6))
		l.stopCarrying()
		l.received(frameData, []byte("more"))
		is.Equal(string(who.out.bytes), "back")
		l.received(frameEnd, nil)
		is.True(l.severed && l.caller == nil && who.out.closed)
		l.reporter.stop()

		joined, _ := leafAlone(api.HandshakeJoined)
		joined.caller = who
		joined.received(frameConnected, nil)
		now, _ := joined.handshake()
		is.Equal(now.State, api.HandshakeJoined)
		joined.received(frameEnd, nil)
		is.True(!joined.severed && joined.caller == nil)
		joined.received(frameEnd, nil)
		none, _ := leafAlone(api.HandshakeConnected)
		none.received(frameEnd, nil)
		none.received(frameData, []byte("x"))
		is.True(!none.severed)
		is.Equal(none.flow.bytes, int64(0))
		for _, l := range []*leaf{joined, none} {
			l.reporter.stop()
		}
	})
}

// The number of a rank counts among what it has sent.
func TestTheNumberIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		l, _ := leafAlone(api.HandshakeNone)
		l.ctx, l.calling = t.Context(), 1
		near, far := net.Pipe()
		over := make(chan struct{})
		go func() { l.take(near); close(over) }()
		_, err := far.Write(number4(1))
		is.NoErr(err)
		synctest.Wait()
		is.Equal(l.flow.own, int64(numberBytes))
		far.Close()
		<-over
		l.reporter.stop()
	})
}

// A stream on which something else is said than frames is closed.
func TestAStreamOfNoFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		l, _ := leafAlone(api.HandshakeNone)
		l.ctx = t.Context()
		near, far := net.Pipe()
		over := make(chan error, 1)
		go func() { over <- l.serve(near) }()
		_, err := far.Write([]byte("GET"))
		is.NoErr(err)
		is.True(errors.Is(<-over, errFrame))
		is.True(isShut(far))
		is.True(l.out == nil)
		l.reporter.stop()
	})
}

// A leaf has joined when its gathers say so, or rest.
func TestWhenALeafHasJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		l, _ := leafAlone(api.HandshakeConnected)
		state := func(l *leaf) api.HandshakeState { now, _ := l.handshake(); return now.State }
		l.flowedLocked()
		is.Equal(state(l), api.HandshakeConnected)
		l.flow.joined = true
		l.flowedLocked()
		is.Equal(state(l), api.HandshakeJoined)
		rests, _ := leafAlone(api.HandshakeConnected)
		rests.flow.unknown = true
		rests.mu.Lock()
		rests.flowedLocked()
		rests.mu.Unlock()
		time.Sleep(restAfter)
		synctest.Wait()
		is.Equal(state(rests), api.HandshakeJoined)
		// Versions before wait once.
		once, _ := leafAlone(api.HandshakeConnected)
		once.flow.waits, once.flow.waited = 1, true
		once.mu.Lock()
		once.flowedLocked()
		once.mu.Unlock()
		time.Sleep(waitedAfter - 1)
		synctest.Wait()
		is.Equal(state(once), api.HandshakeConnected)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		is.Equal(state(once), api.HandshakeJoined)
		// Whose program has ended rests for ever.
		ended, _ := leafAlone(api.HandshakeConnected)
		near, far := net.Pipe()
		who := &caller{conn: near, out: newOutbox(), passed: true}
		ended.caller, ended.through, ended.flow.waits, ended.flow.waited = who, true, 1, true
		ended.mu.Lock()
		ended.flowedLocked()
		ended.mu.Unlock()
		far.Close()
		ended.receive(who)
		time.Sleep(waitedAfter)
		synctest.Wait()
		is.Equal(state(ended), api.HandshakeConnected)
		for _, l := range []*leaf{l, rests, once, ended} {
			l.reporter.stop()
		}
	})
}

// What goes between a rank and rank 0's program is passed on and counted, its end a moment
// later, and who has joined is told.
func TestWhatAJoinerCarries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		r := rootAlone("a", "b")
		var mu sync.Mutex
		var reported []api.HandshakeState
		r.c.cfg.Notify = func(_ api.RankRef, h api.Handshake) { mu.Lock(); reported = append(reported, h.State); mu.Unlock() }
		j, _ := r.stream("b", 1, 3)
		j.root, j.through, j.flow.size = r, true, 2
		r.joiners[1], r.listens = j, true
		program, near := net.Pipe()
		j.program = near
		over := make(chan struct{})
		go func() { j.receive(r, near); close(over) }()
		gatherings := func(up, down string) {
			j.forward(r, []byte(up))
			_, err := program.Write([]byte(down))
			is.NoErr(err)
			synctest.Wait()
		}
		gatherings("\x01\x00\x00\x00"+strings.Repeat("d", 56), strings.Repeat("d", 112)) // after its number
		is.Equal(j.flow.done, 1)
		is.True(!j.flow.joined)
		gatherings("\x00\x00\x00\x00", strings.Repeat("\x00", 8))
		is.True(!j.flow.joined)
		gatherings("\x00\x00\x00\x00", strings.Repeat("\x00", 8))
		is.True(j.flow.joined)
		time.Sleep(joinedAfter)
		synctest.Wait()
		mu.Lock()
		is.Equal(reported[len(reported)-1], api.HandshakeJoined)
		mu.Unlock()
		is.Equal(string(j.inbox.bytes), "\x01\x00\x00\x00"+strings.Repeat("d", 56)+strings.Repeat("\x00", 8))
		described, waited := appendFrames(nil, frameData, []byte(strings.Repeat("d", 112))), appendFrames(nil, frameData, make([]byte, 8))
		is.Equal(string(j.out.bytes), string(described)+string(waited)+string(waited))
		is.Equal(j.standing().bytes, int64(60+112+2*(4+8)))
		sent, began := len(j.out.bytes), time.Now()
		program.Close()
		<-j.received
		is.True(j.ended && j.inbox.closed)
		<-over
		is.Equal(time.Since(began), severAfter)
		_, err := near.Read(make([]byte, 1))
		is.Equal(err, io.ErrClosedPipe) // it was let go of here too
		is.Equal(string(j.out.bytes[sent:]), "e\x00\x00")
		r.reporter.stop()

		// An end that the rank was told of before is not told again.
		again, _ := r.stream("b", 1, 3)
		again.root, again.ended = r, true
		program, near = net.Pipe()
		program.Close()
		began = time.Now()
		again.receive(r, near)
		is.Equal(time.Since(began), time.Duration(0))
		is.Equal(len(again.out.bytes), 0)
		r.reporter.stop()
	})
}

// The end of rank 0 carries so much of each, and nothing after its time.
func TestHowMuchAJoinerCarries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		for _, joined := range []bool{false, true} {
			r := rootAlone("a", "b")
			var mu sync.Mutex
			failed := 0
			r.c.cfg.Fail = func(api.RankRef, *api.Error) { mu.Lock(); failed++; mu.Unlock() }
			j, _ := r.stream("b", 1, 3)
			j.root, j.flow.joined = r, joined
			is.True(j.carry(r, api.MaxSideChannelBytes, true))
			is.True(!j.carry(r, 1, false))
			is.True(!j.carry(r, 1, false))
			is.Equal(j.flow.bytes, int64(api.MaxSideChannelBytes+1))
			synctest.Wait()
			mu.Lock()
			is.Equal(failed == 1, !joined)
			mu.Unlock()
			fresh, _ := r.stream("b", 1, 3)
			r.stopCarrying()
			is.True(!fresh.carry(r, 1, true))
			fresh.forward(r, []byte("x"))
			is.Equal(fresh.flow.bytes, int64(0))
			is.Equal(len(fresh.inbox.bytes), 0)
			r.reporter.stop()
		}
	})
}

// How far a rank has come that has ended is known once all is read that it has said, and
// no later than that may take.
func TestSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		r := rootAlone("a", "b")
		l, _ := leafAlone(api.HandshakeHeld)
		c := New(Config{Clock: r.c.cfg.Clock, Log: r.c.cfg.Log, Peers: nobody{}})
		c.open[rankOf(0)], c.open[rankOf(1)] = r, l
		now, known := c.Settle(rankOf(1))
		is.True(known)
		is.Equal(now.State, api.HandshakeHeld)
		_, known = c.Settle(rankOf(2))
		is.True(!known)
		r.joiners[1], _ = r.stream("b", 1, 3)
		r.listens = true
		for _, connected := range []bool{false, true} {
			if connected {
				r.joiners[1].program, _ = net.Pipe()
			}
			began := time.Now()
			now, known = c.Settle(rankOf(0))
			is.True(known)
			is.Equal(now.State, map[bool]api.HandshakeState{false: api.HandshakeListening, true: api.HandshakeConnected}[connected])
			is.Equal(time.Since(began), map[bool]time.Duration{true: settleWithin}[connected])
		}
		close(r.joiners[1].received)
		began := time.Now()
		_, _ = c.Settle(rankOf(0))
		is.Equal(time.Since(began), time.Duration(0))
	})
}

// A channel that is closed carries what was said for a moment longer, gives its port back,
// and fails its rank for nothing any more; who ends all waits for that, and not for others.
func TestClosing(t *testing.T) {
	for _, shut := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			is := is.New(t)
			r := rootAlone("a", "b")
			l, failed := leafAlone(api.HandshakeConnected)
			var mu sync.Mutex
			var given []int
			cfg := r.c.cfg
			cfg.Peers = nobody{}
			cfg.Return = func(port int) { mu.Lock(); given = append(given, port); mu.Unlock() }
			c := New(cfg)
			r.c, l.c.cfg.Return = c, cfg.Return
			r.port, l.port, l.through, l.spoken = 1, 2, true, make(chan struct{})
			l.ctx, l.cancel = context.WithCancel(t.Context())
			l.listener, _ = net.Listen("tcp", "127.0.0.1:0")
			r.silence, l.silence = cfg.Clock.AfterFunc(time.Hour, r.stopCarrying), cfg.Clock.AfterFunc(time.Hour, l.stopCarrying)
			r.joiners[1], _ = r.stream("b", 1, 3)
			r.joiners[1].program, _ = net.Pipe()
			c.open[rankOf(0)], c.open[rankOf(1)] = r, l
			began := time.Now()
			if shut {
				c.Shut()
				is.Equal(len(given), 2) // all is over when it returns
			} else {
				c.Close(rankOf(0))
				c.Close(rankOf(1))
				c.Close(rankOf(1)) // is not open any more
				time.Sleep(lingerWithin - time.Nanosecond)
				synctest.Wait()
				mu.Lock()
				is.Equal(len(given), 0)
				mu.Unlock()
				c.closing.Wait()
			}
			is.Equal(time.Since(began), map[bool]time.Duration{false: lingerWithin}[shut])
			is.Equal(len(given), 2)
			l.fail(api.NewError(api.ReasonSideChannelLost, ""))
			count := 0
			r.c.cfg.Fail = func(api.RankRef, *api.Error) { count++ }
			r.fail(api.NewError(api.ReasonSideChannelLost, ""))
			is.Equal(len(failed())+count, 0)
			c.Shut()
			c.Shut()
		})
	}
}
