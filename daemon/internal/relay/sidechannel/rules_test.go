package sidechannel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"fulmen/daemon/api"
	"fulmen/native"
)

func rules() Config {
	start := time.Now()
	return Config{Clock: native.ClockFrom(time.Now, func() time.Duration { return time.Since(start) }), Log: slog.New(slog.DiscardHandler), Account: func(uid uint32) string { return fmt.Sprint("user ", uid) }}
}

func rankOf(n int) api.RankRef { return api.RankRef{Job: "j00000001", Attempt: 1, Rank: n} }

// A frame holds as much as frames may, and only data has any.
func TestFramesToTheByte(t *testing.T) {
	buffer := make([]byte, maxData)
	full := strings.Repeat("x", maxData)
	for name, c := range map[string]struct {
		reported string
		kind     byte
		n        int
		err      error
	}{
		"the most":     {"d\x40\x00" + full, frameData, maxData, nil},
		"too much":     {"d\x40\x01" + full + "x", 0, 0, errFrame},
		"one byte":     {"d\x00\x01x", frameData, 1, nil},
		"no data":      {"d\x00\x00", 0, 0, errFrame},
		"here":         {"h\x00\x00", frameHere, 0, nil},
		"gone":         {"g\x00\x00", frameGone, 0, nil},
		"listens":      {"l\x00\x00", frameListens, 0, nil},
		"connected":    {"c\x00\x00", frameConnected, 0, nil},
		"end":          {"e\x00\x00", frameEnd, 0, nil},
		"end of what":  {"e\x00\x01x", 0, 0, errFrame},
		"here and now": {"h\x01\x00x", 0, 0, errFrame},
		"unknown":      {"x\x00\x00", 0, 0, errFrame},
		"nothing":      {"", 0, 0, io.EOF},
		"cut in head":  {"d\x00", 0, 0, io.ErrUnexpectedEOF},
		"cut in data":  {"d\x00\x02x", 0, 0, io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			kind, data, err := readFrame(strings.NewReader(c.reported), buffer)
			is.True(errors.Is(err, c.err))
			if c.err == nil {
				is.Equal(kind, c.kind)
				is.Equal(len(data), c.n)
			}
		})
	}
	is := is.New(t)
	is.Equal(len(appendFrames(nil, frameData, []byte(full))), frameHead+maxData)
	is.Equal(len(appendFrames(nil, frameData, []byte(full+"x"))), 2*frameHead+maxData+1)
	for reported, want := range map[string]int{"\x01\x00\x00\x00": 1, "\x00\x01\x00\x00more": 256, "\xff\xff\xff\xff": -1} {
		n, whole := numberOf([]byte(reported))
		is.Equal(n, want)
		is.True(whole)
	}
	_, whole := numberOf([]byte{1, 0, 0})
	is.True(!whole)
}

// What is seen of gathers: how many are over, whether the rank may rest, and whether they
// are none at all.
func TestGathersInSteps(t *testing.T) {
	type step struct {
		sent, got      int
		done           int
		rests, unknown bool
	}
	for name, steps := range map[string][]step{
		"of a number, in two parts":   {{4, 0, 0, false, false}, {0, 4, 0, false, false}, {0, 4, 1, false, false}},
		"sent in two parts":           {{2, 0, 0, false, false}, {2, 0, 0, false, false}, {0, 8, 1, false, false}},
		"a description and a wait":    {{5, 10, 1, false, false}, {4, 0, 1, false, false}, {0, 8, 2, true, false}, {1, 0, 2, false, false}},
		"a wait before a description": {{4, 8, 1, false, false}, {5, 10, 2, false, false}},
		"more came than is due":       {{4, 9, 0, true, true}},
		"sent in the midst":           {{4, 4, 0, false, false}, {1, 0, 0, true, true}},
		"something for nothing":       {{0, 1, 0, true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			g := gather{size: 2}
			for _, s := range steps {
				if s.sent > 0 {
					g.sent(bytes.Repeat([]byte{1}, s.sent))
				}
				if s.got > 0 {
					g.got(bytes.Repeat([]byte{1}, s.got))
				}
				is.Equal(g.done, s.done)
				is.Equal(g.rests(), s.rests)
				is.Equal(g.unknown, s.unknown)
				is.True(!g.joined) // none of them was of zeros
			}
		})
	}
	is := is.New(t)
	for _, c := range []struct {
		mine, back []byte
		joined     bool
	}{{make([]byte, 4), make([]byte, 8), true}, {[]byte{0, 0, 0, 1}, make([]byte, 8), false}, {make([]byte, 4), []byte{0, 0, 0, 0, 0, 0, 0, 1}, false}, {make([]byte, 3), make([]byte, 6), false}, {make([]byte, 5), make([]byte, 10), false}} {
		g := gather{size: 2}
		g.sent(make([]byte, 56))
		g.got(make([]byte, 112))
		is.True(!g.joined)
		for range 2 {
			is.True(!g.joined)
			g.sent(c.mine)
			g.got(c.back)
		}
		is.Equal(g.joined, c.joined)
	}
}

// Who holds the others up, of those that are behind.
func TestWhoIsWaitedFor(t *testing.T) {
	is := is.New(t)
	for _, c := range []struct {
		flows []gather
		want  []int
	}{
		{[]gather{{}, {}}, []int{1, 2}},
		{[]gather{{up: 4}, {}}, []int{2}},
		{[]gather{{up: 4}, {up: 3}}, []int{2}},
		{[]gather{{up: 4}, {up: 4}}, []int{0}},
		{[]gather{{done: 1, last: 4}, {up: 4}}, []int{0}},
		{[]gather{{done: 1, last: 4}, {up: 3}}, []int{2}},
		{[]gather{{done: 1, last: 4, up: 9}, {up: 4}}, []int{0}}, // what it sends of the next one is not due
		{[]gather{{done: 2, last: 9}, {up: 4}, {done: 1, last: 4}}, []int{0}},
		{[]gather{{done: 1}, {done: 1}}, []int{1, 2}},
		{[]gather{{done: 1, unknown: true}, {}}, nil},
	} {
		is.Equal(owing(c.flows), c.want)
	}
}

// Streams that come before their rank 0 wait for it, so many of each node.
func TestEarlyStreams(t *testing.T) {
	is := is.New(t)
	cfg := rules()
	cfg.Peers = nobody{}
	c := New(cfg)
	of := func(from api.NodeID, attempt, rank int) *joiner {
		return &joiner{c: c, from: from, ref: api.RankRef{Job: "j00000001", Attempt: attempt, Rank: rank}}
	}
	one, two, three := of("a", 1, 1), of("a", 1, 2), of("a", 2, 1)
	is.True(c.admit(one) && c.admit(two) && c.admit(three))
	is.Equal(len(c.early), 3)
	c.leave(one)
	is.Equal(c.takeEarlyLocked(rootOf(two.ref)), []*joiner{two})
	is.Equal(len(c.takeEarlyLocked(rootOf(two.ref))), 0)
	is.Equal(c.early, []*joiner{three})
	c.leave(two) // it is not there any more
	c.leave(three)
	is.Equal(len(c.early), 0)
	for i := range earlyMost {
		is.True(c.admit(of("a", i+1, 1)))
	}
	is.True(!c.admit(of("a", 1, 1)))
	is.True(c.admit(of("b", 1, 1))) // of another node
	c.leave(c.takeEarlyLocked(api.RankRef{Job: "j00000001", Attempt: 9})[0])
	is.True(c.admit(of("a", 1, 1)))
}

// A channel carries so many bytes, and whoever sent most of them is at fault.
func TestFlowToTheByte(t *testing.T) {
	is := is.New(t)
	var f flow
	is.True(f.carry(api.MaxSideChannelBytes-1, true))
	is.True(f.carry(1, false))
	is.True(!f.carry(1, false))
	is.Equal(f.own, int64(api.MaxSideChannelBytes-1))
	for _, c := range []struct {
		own, all int64
		ended    int
		rank     int
		reason   api.Reason
	}{
		{51, 100, 2, 2, api.ReasonSideChannelLimit}, {50, 100, 2, 0, api.ReasonSideChannelLost}, {49, 100, 2, 0, api.ReasonSideChannelLost},
		{51, 100, 0, 2, api.ReasonSideChannelLost}, {50, 100, 0, 0, api.ReasonSideChannelLimit},
	} {
		f := flow{own: c.own, bytes: c.all}
		err := f.tooMuch(rankOf(c.ended), 2)
		is.Equal(err.Data.Reason, c.reason)
		is.True(strings.HasPrefix(err.Message, fmt.Sprintf("Rank %d sent more than", c.rank)))
	}
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		var mu sync.Mutex
		f, clock := flow{gather: gather{size: 2}}, rules().Clock
		var joined atomic.Int32
		settle := func() { mu.Lock(); f.settleLocked(clock, &mu, func() { joined.Add(1) }); mu.Unlock() }
		settle()
		time.Sleep(2 * restAfter)
		synctest.Wait()
		is.Equal(joined.Load(), int32(0)) // it has more to say
		f.unknown = true
		settle()
		time.Sleep(restAfter - 1)
		settle() // something came
		time.Sleep(restAfter - 1)
		synctest.Wait()
		is.Equal(joined.Load(), int32(0))
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		is.Equal(joined.Load(), int32(1))
		settle()
		mu.Lock()
		f.stop()
		mu.Unlock()
		time.Sleep(2 * restAfter)
		synctest.Wait()
		is.Equal(joined.Load(), int32(1))
	})
}

// writes are what a connection was given, each by itself.
type writes struct {
	net.Conn
	tcp  bool
	hold chan struct{} // not nil: each waits for one
	mu   sync.Mutex
	all  []string
	fail bool
}

func (w *writes) LocalAddr() net.Addr {
	if w.tcp {
		return &net.TCPAddr{}
	}
	return &net.UnixAddr{}
}

func (w *writes) Write(b []byte) (int, error) {
	if w.hold != nil {
		<-w.hold
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fail {
		return 0, errors.New("broken")
	}
	w.all = append(w.all, string(b))
	return len(b), nil
}

// What is sent comes whole and in order; while a socket has room it is written at once.
func TestOutbox(t *testing.T) {
	for _, tcp := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			is := is.New(t)
			to, o := &writes{tcp: tcp}, newOutbox()
			o.raw([]byte("before"))
			go o.drain(to)
			synctest.Wait()
			o.raw([]byte("a"))
			if tcp {
				is.Equal(to.all, []string{"before", "a"}) // at once
				is.Equal(o.room, atOnce-1)
			}
			synctest.Wait()
			o.frame(frameHere, nil)
			synctest.Wait()
			large := strings.Repeat("x", atOnce-4)
			o.raw([]byte(large))
			if tcp {
				is.Equal(o.room, 0)
			}
			synctest.Wait()
			o.raw([]byte("more"))
			synctest.Wait()
			o.close()
			<-o.sent
			o.raw([]byte("after"))
			is.Equal(to.all, []string{"before", "a", "h\x00\x00", large, "more"})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		to, o := &writes{tcp: true, hold: make(chan struct{})}, newOutbox()
		o.raw([]byte("first"))
		go o.drain(to)
		synctest.Wait()
		o.raw([]byte("second")) // while the first is written, nobody overtakes it
		o.raw([]byte("third"))
		to.hold <- struct{}{}
		to.hold <- struct{}{}
		synctest.Wait()
		is.Equal(to.all, []string{"first", "secondthird"})
		o.close()
		<-o.sent
	})
	for _, late := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			is := is.New(t)
			to, o := &writes{tcp: late, fail: true}, newOutbox()
			go o.drain(to)
			synctest.Wait()
			o.raw([]byte("x"))
			<-o.sent // it is broken, closed or not
			o.raw([]byte("y"))
			is.Equal(len(o.bytes), 0)
			is.True(o.broken)
		})
	}
}

// News of a rank wait for more of them, not for ever, and what is over is not told.
func TestWhenNewsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		cfg := rules()
		var reported []string
		began := time.Now()
		cfg.Notify = func(_ api.RankRef, h api.Handshake) {
			reported = append(reported, fmt.Sprintf("%s %v %t %s", h.State, h.Missing, h.Severed, time.Since(began)))
		}
		var mu sync.Mutex
		now, over := api.Handshake{State: api.HandshakeNone}, false
		x := &reporter{c: &Channels{cfg: cfg}, ref: rankOf(0), reported: now, state: func() (api.Handshake, bool) { mu.Lock(); defer mu.Unlock(); return now, over }}
		set := func(h api.Handshake) { mu.Lock(); now = h; mu.Unlock(); began = time.Now(); x.changed() }
		wait := func(d time.Duration) { time.Sleep(d); synctest.Wait() }
		x.changed()
		wait(time.Minute)
		is.Equal(len(reported), 0) // nothing is new
		set(api.Handshake{State: api.HandshakeListening})
		wait(time.Minute)
		is.Equal(reported, []string{"listening [] false 100ms"})
		set(api.Handshake{State: api.HandshakeListening, Missing: []int{1}})
		wait(notifyAfter / 2)
		x.changed()
		x.carries()
		wait(time.Minute)
		is.Equal(reported[1:], []string{"listening [1] false 150ms"}) // since anything was carried
		set(api.Handshake{State: api.HandshakeListening, Missing: []int{2}})
		for range 40 {
			x.carries()
			wait(notifyAfter / 2)
		}
		is.Equal(reported[2:], []string{"listening [2] false 1s"})
		set(api.Handshake{State: api.HandshakeConnected, Severed: true})
		is.Equal(reported[3:], []string{"connected [] true 0s"}) // at once
		set(api.Handshake{State: api.HandshakeConnected})
		set(api.Handshake{State: api.HandshakeConnected, Severed: true}) // as was told
		wait(time.Minute)
		is.Equal(len(reported), 4)
		set(api.Handshake{State: api.HandshakeConnected})
		wait(notifyAfter / 2)
		set(api.Handshake{State: api.HandshakeJoined})
		x.carries()
		wait(time.Minute)
		is.Equal(reported[4:], []string{"joined [] false 10ms"}) // soon, whatever is carried
		set(api.Handshake{State: api.HandshakeConnected})
		wait(time.Minute)
		is.Equal(len(reported), 5) // it was through

		x.reported = api.Handshake{State: api.HandshakeNone}
		set(api.Handshake{State: api.HandshakeListening})
		is.True(!x.rested(x.round - 1)) // a timer that another one has replaced
		x.stop()
		is.True(!x.rested(x.round)) // or that passed as it was stopped
		wait(time.Minute)
		is.Equal(len(reported), 5)
		set(api.Handshake{State: api.HandshakeListening})
		mu.Lock()
		over = true
		mu.Unlock()
		wait(time.Minute)
		set(api.Handshake{State: api.HandshakeListening, Severed: true})
		wait(time.Minute)
		is.Equal(len(reported), 5)
	})
}

// Something is waited for, and no longer than it may take.
func TestAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		c := &Channels{cfg: rules()}
		done, began := make(chan struct{}), time.Now()
		within, stop := c.atMost(t.Context(), time.Second)
		within(done)
		within(done) // all of it together
		is.Equal(time.Since(began), time.Second)
		stop()
		close(done)
		within, stop = c.atMost(t.Context(), time.Second)
		defer stop()
		within(done)
		is.Equal(time.Since(began), time.Second)
	})
}

// reported is a machine that tells what a test has it tell.
type reported struct {
	native.Processes
	listen  func(port int) (net.Listener, error)
	program error
	owner   error
}

func (m reported) Listen(port int) (net.Listener, error)            { return m.listen(port) }
func (m reported) Dial(context.Context, int) (net.Conn, error)      { return nil, errors.New("no") }
func (m reported) Program(_, _ netip.AddrPort) (int, string, error) { return 7, "nc", m.program }
func (m reported) Owner(_, _ netip.AddrPort) (uint32, error)        { return 501, m.owner }
func (m reported) Callers(netip.AddrPort) ([]netip.AddrPort, error) { return nil, nil }

// A port is tried until one is free, within the range, and given back where it was not.
func TestPorts(t *testing.T) {
	is := is.New(t)
	cfg := rules()
	var tried, given []int
	cfg.Take = func(port int) bool { tried = append(tried, port); return len(tried) != 2 }
	cfg.Return = func(port int) { given = append(given, port) }
	cfg.Machine = reported{listen: func(port int) (net.Listener, error) {
		if len(tried) < 4 {
			return nil, errors.New("in use")
		}
		return nil, nil
	}}
	port, _, err := (&Channels{cfg: cfg}).choosePort()
	is.NoErr(err)
	is.Equal(port, tried[3])
	is.Equal(given, []int{tried[0], tried[2]}) // the second was never taken
	cfg.Machine = reported{listen: func(int) (net.Listener, error) { return nil, errors.New("in use") }}
	_, _, err = (&Channels{cfg: cfg}).choosePort()
	is.True(errors.Is(err, api.ReasonPortTaken))
	is.Equal(len(tried), 4+portTries)
	for _, p := range tried {
		is.True(p >= firstPort && p < lastPort)
	}
	for want, m := range map[string]reported{
		"nc (process 7 of user 501)": {}, "nc (process 7)": {owner: errors.New("x")}, "A program of user 501": {program: errors.New("x")}, "Something": {owner: errors.New("x"), program: errors.New("x")},
	} {
		cfg.Machine = m
		is.Equal((&Channels{cfg: cfg}).nameOf(netip.AddrPort{}, netip.AddrPort{}), want)
	}
}

// The loopback of this machine: a port is shared with nobody.
func TestLoopback(t *testing.T) {
	is := is.New(t)
	l, err := Loopback{}.Listen(0)
	is.NoErr(err)
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	is.Equal(l.Addr().(*net.TCPAddr).AddrPort(), coordinatorAt(port))
	_, err = Loopback{}.Listen(port)
	is.True(err != nil)
	raw, err := l.(*net.TCPListener).SyscallConn()
	is.NoErr(err)
	is.NoErr(raw.Control(func(fd uintptr) {
		reuses, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEADDR)
		is.NoErr(err)
		is.Equal(reuses, 0) // which a program that sets it, too, could share it by
	}))
	conn, err := Loopback{}.Dial(t.Context(), port)
	is.NoErr(err)
	other, err := l.Accept()
	is.NoErr(err)
	reset(other)
	_, err = io.ReadAll(conn)
	is.True(err != nil) // reset, not ended
	conn.Close()
}
