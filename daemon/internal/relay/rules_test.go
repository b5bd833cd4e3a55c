package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/peer"
	"fulmen/native"
)

// alone is a node whose calls to others a test answers.
type alone struct {
	peer.Caller
	stream func(first api.PeerConn) (net.Conn, error)
}

func (a alone) Self() api.NodeID                  { return "0000000000000000" }
func (a alone) HandleStream(h gate.StreamHandler) {}
func (a alone) Stream(_ context.Context, _ api.NodeID, first api.PeerConn) (net.Conn, error) {
	return a.stream(first)
}

func clock() native.Clock {
	start := time.Now()
	return native.ClockFrom(time.Now, func() time.Duration { return time.Since(start) })
}

// Open is openLocked of a spec that publishes something.
func (r *Relay) Open(spec api.JobSpec, rank0 api.RankRef, node api.NodeID) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.openLocked(spec, rank0, node)
}

// Close is closeLocked.
func (r *Relay) Close(job api.JobID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closeLocked(job)
}

// Serve is serve, until stop is called.
func (r *Relay) Serve(rank api.RankRef, group int, ports []int, notify func(open []int)) (stop func()) {
	r.serve(rank, group, ports, notify, idleSettle, func(api.Time) {})
	return func() { r.Ended(api.Rank{Job: rank.Job, Attempt: rank.Attempt, Rank: rank.Rank}) }
}

// Check is check.
func (r *Relay) Check(ports []api.Publish) error { return r.check(ports) }

// lonely is the relay of such a node.
func lonely(change ...func(*Config)) *Relay {
	cfg := Config{Peers: alone{}, Clock: clock(), Log: slog.New(slog.DiscardHandler), Seed: []byte("secret"), LAN: func() []netip.Addr { return nil }}
	for _, f := range change {
		f(&cfg)
	}
	return New(cfg)
}

// A head is read to its end, which may come in pieces, up to the last byte that it may have.
func TestHeadToTheByte(t *testing.T) {
	head := func(n int) string {
		line := "GET / HTTP/1.1\r\nX: "
		return line + strings.Repeat("x", n-len(line)-4) + "\r\n\r\n"
	}
	for _, n := range []int{40, 4096, 4097, maxHead} {
		for _, from := range []io.Reader{strings.NewReader(head(n)), iotest.OneByteReader(strings.NewReader(head(n)))} {
			is := is.New(t)
			got, _, err := readHead(from)
			is.NoErr(err)
			is.Equal(string(got), head(n))
		}
	}
	is := is.New(t)
	read, _, err := readHead(iotest.OneByteReader(strings.NewReader(head(maxHead + 1))))
	is.True(err != nil)
	is.Equal(len(read), maxHead)
	_, _, err = readHead(strings.NewReader("GET / HTTP/1.1\r\n\r"))
	is.True(err != nil)
	for reported, want := range map[string]bool{
		"GET / HTTP/1.1\r\n\r\n": false, "GET / HTTP/1.1\r\nAuthorization: Bearer\r\n\r\n": false, "GET / HTTP/1.1\r\nAuthorization: Bearerkey\r\n\r\n": false,
		"GET / HTTP/1.1\r\nAuthorization: Bearer key \r\n\r\n": true,
	} {
		_, request, err := readHead(strings.NewReader(reported))
		is.NoErr(err)
		is.Equal(bears(request, "key"), want)
	}
}

// A frame is as long as frames may be, and not a byte longer; what cannot be passed on
// is said.
func TestFramesToTheByte(t *testing.T) {
	is := is.New(t)
	read := func(framed string) (string, error) {
		near, far := net.Pipe()
		received := make(chan string, 1)
		go func() {
			all, _ := io.ReadAll(near)
			received <- string(all)
		}()
		err := deframe(halfCloser{far}, strings.NewReader(framed))
		far.Close()
		return <-received, err
	}
	full := strings.Repeat("x", maxFrame)
	var framed bytes.Buffer
	is.NoErr(enframe(&framed, strings.NewReader(full+"y")))
	is.Equal(framed.Len(), 3*headBytes+maxFrame+1) // the last is its end
	received, err := read(framed.String())
	is.NoErr(err)
	is.Equal(received, full+"y")
	_, err = read("\x00\x01\x00\x01" + full + "y")
	is.True(errors.Is(err, errProtocol))
	for _, cut := range []string{"", "\x00\x00", "\x00\x00\x00\x02x"} {
		_, err = read(cut)
		is.True(errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF))
	}
	broken := iotest.ErrReader(errors.New("broken"))
	is.True(enframe(io.Discard, broken) != nil)
	shut, other := net.Pipe()
	shut.Close()
	other.Close()
	is.True(enframe(shut, strings.NewReader("x")) != nil)
	is.True(enframe(shut, strings.NewReader("")) != nil)
	is.True(deframe(shut, strings.NewReader("\x00\x00\x00\x01x")) != nil)
	is.True(deframe(shut, strings.NewReader("\x00\x00\x00\x00")) != nil) // it cannot end one direction
	var none bytes.Buffer
	is.NoErr(enframe(&none, strings.NewReader("")))
	is.Equal(none.String(), "\x00\x00\x00\x00")
}

// closing is a connection that says nothing, ends at once, and notes that it was closed.
type closing struct {
	net.Conn
	closed chan struct{}
	once   sync.Once
}

func (c *closing) Read([]byte) (int, error)    { return 0, io.EOF }
func (c *closing) Write(b []byte) (int, error) { return len(b), nil }
func (c *closing) CloseWrite() error           { return nil }
func (c *closing) Close() error                { c.once.Do(func() { close(c.closed) }); return nil }

// Once both directions have ended in good order, both connections are let go of.
func TestBothConnectionsAreClosed(t *testing.T) {
	plain := &closing{closed: make(chan struct{})}
	near, other := net.Pipe()
	go func() {
		_, _ = other.Write(make([]byte, headBytes)) // the end of what it says
		_, _ = io.ReadFull(other, make([]byte, headBytes))
	}()
	carry(near, plain, nil)
	<-plain.closed
	_, err := other.Read(make([]byte, 1))
	is.New(t).Equal(err, io.EOF)
}

// Connections end together, and there are no more than there may be.
func TestConnectionsTogether(t *testing.T) {
	is := is.New(t)
	var c conns
	pipes := make([]net.Conn, 4)
	far := make([]net.Conn, 4)
	for i := range pipes {
		pipes[i], far[i] = net.Pipe()
	}
	is.True(c.add(pipes[0], 2) && c.add(pipes[1], 2))
	is.True(!c.add(pipes[2], 2))
	c.remove(pipes[0])
	is.True(c.add(pipes[2], 2))
	c.shut()
	for _, i := range []int{1, 2} {
		_, err := far[i].Read(make([]byte, 1))
		is.Equal(err, io.EOF)
	}
	is.True(!c.add(pipes[3], 9)) // all is over
	go pipes[0].Write([]byte("x"))
	_, err := far[0].Read(make([]byte, 1))
	is.NoErr(err) // it was let go of before
}

// Who has no key keeps nobody out: there are so many strangers, each for a while.
func TestUnproven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		p := &published{relay: lonely(), key: "key"}
		type reported struct {
			head []byte
			ok   bool
			took time.Duration
		}
		enter := func() (net.Conn, chan reported) {
			near, far := net.Pipe()
			got, began := make(chan reported, 1), time.Now()
			go func() {
				head, ok := p.admit(near)
				near.Close()
				got <- reported{head, ok, time.Since(began)}
			}()
			return far, got
		}
		silent, got := enter()
		synctest.Wait()
		time.Sleep(headWithin)
		first := <-got
		is.True(!first.ok)
		is.Equal(first.took, headWithin)
		_, err := silent.Read(make([]byte, 1))
		is.Equal(err, io.EOF) // without an answer

		asked, got := enter()
		go func() { _, _ = asked.Write([]byte("GET / HTTP/1.1\r\nAuthorization: Bearer key\r\n\r\nmore")) }()
		second := <-got
		is.True(second.ok)
		is.Equal(string(second.head), "GET / HTTP/1.1\r\nAuthorization: Bearer key\r\n\r\nmore")

		unresponsive, got := enter() // it does not hear why it is refused
		go func() { _, _ = unresponsive.Write([]byte("GET / HTTP/1.1\r\n\r\n")) }()
		third := <-got
		is.True(!third.ok)
		is.Equal(third.took, partWithin)

		var all []chan reported
		for range maxUnproven {
			_, got := enter()
			all = append(all, got)
		}
		synctest.Wait()
		_, late := enter()
		is.Equal(<-late, reported{}) // one too many
		for _, got := range all {
			is.Equal((<-got).took, headWithin)
		}
		again, got := enter() // and now there is room
		go func() { _, _ = again.Write([]byte("GET / HTTP/1.1\r\nAuthorization: Bearer key\r\n\r\n")) }()
		is.True((<-got).ok)
	})
}

// listener gives a test's connections and errors.
type listener struct {
	next   chan any
	closed sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	switch one := (<-l.next).(type) {
	case net.Conn:
		return one, nil
	case error:
		return nil, one
	}
	return nil, net.ErrClosed
}

func (l *listener) Close() error   { l.closed.Do(func() { close(l.next) }); return nil }
func (l *listener) Addr() net.Addr { return &net.TCPAddr{} }

// A listener that has no descriptor rests a moment and goes on, as long as the job does.
func TestOutOfDescriptors(t *testing.T) {
	for _, err := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ECONNABORTED, syscall.ENOBUFS} {
		is.New(t).True(temporary(fmt.Errorf("accept: %w", err)))
	}
	is.New(t).True(!temporary(net.ErrClosed) && !temporary(syscall.EINVAL))
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		asked := make(chan api.PeerConn, 1)
		p := &published{relay: lonely(func(c *Config) {
			c.Peers = alone{stream: func(first api.PeerConn) (net.Conn, error) { asked <- first; return nil, errors.New("no") }}
		})}
		l, over := &listener{next: make(chan any, 4)}, make(chan struct{})
		go func() {
			p.accept(l, 80, false)
			close(over)
		}()
		near, far := net.Pipe()
		l.next <- syscall.EMFILE
		l.next <- near
		began := time.Now()
		is.Equal((<-asked).Port, 80)
		is.Equal(time.Since(began), pauseFor)
		_, err := far.Read(make([]byte, 1))
		is.Equal(err, io.EOF) // nobody is there: reset
		p.conns.shut()
		l.next <- syscall.EMFILE
		<-over // the job is over
		l.next <- net.ErrClosed
		p.accept(l, 80, false)
	})
}

// What rank 0's node says before anything else, and what its silence means.
func TestWhatRank0sNodeSays(t *testing.T) {
	for report, want := range map[byte]api.Reason{statusRefused: api.ReasonUnreachable, statusFull: api.ReasonTooManyClients, statusDenied: api.ReasonPeerNotAllowed, 'x': api.ReasonPeerNotAllowed, statusOpen: ""} {
		is := is.New(t)
		near, far := net.Pipe()
		p := &published{relay: lonely(func(c *Config) { c.Peers = alone{stream: func(api.PeerConn) (net.Conn, error) { return near, nil }} })}
		go func() { _, _ = far.Write([]byte{report}) }()
		conn, err := p.reach(t.Context(), 80)
		is.Equal(err == nil, want == "")
		is.Equal(conn != nil, want == "")
		if want != "" {
			is.True(errors.Is(err, want))
			_, err = far.Write([]byte("x"))
			is.True(err != nil) // closed
		}
	}
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		near, far := net.Pipe()
		p := &published{relay: lonely(func(c *Config) { c.Peers = alone{stream: func(api.PeerConn) (net.Conn, error) { return near, nil }} })}
		here, caller := net.Pipe()
		began := time.Now()
		go p.take(here, 80, false)
		_, err := caller.Read(make([]byte, 1))
		is.Equal(err, io.EOF)
		is.Equal(time.Since(began), connectWithin)
		far.Close()
	})
}

// Ports follow the networks of this machine, and are listed in order; one that cannot be
// opened leaves none open.
func TestPortsFollowTheNetworks(t *testing.T) {
	is := is.New(t)
	here := func(i byte) netip.Addr { return netip.AddrFrom4([4]byte{127, 0, 9, i}) }
	var networks []netip.Addr
	r := lonely(func(c *Config) { c.LAN = func() []netip.Addr { return networks }; c.Loopback = []netip.Addr{here(9)} })
	defer r.Shut()
	free := func() int {
		l, err := net.Listen("tcp", netip.AddrPortFrom(here(9), 0).String())
		if err != nil {
			t.Skipf("this machine has no second loopback address: %v", err)
		}
		defer l.Close()
		return l.Addr().(*net.TCPAddr).Port
	}
	first, second := free(), free()
	networks = []netip.Addr{here(1), netip.MustParseAddr("192.0.2.1")} // the second is not this machine's
	spec := api.JobSpec{Job: "j00000002", Publish: []api.Publish{{Port: max(first, second)}, {Port: min(first, second), LAN: true}}}
	rank := api.RankRef{Job: spec.Job, Attempt: 1}
	is.NoErr(r.Open(spec, rank, "1111111111111111"))
	is.NoErr(r.Open(api.JobSpec{Job: "j00000001", Publish: []api.Publish{{Port: free(), LAN: true}}}, rank, "1111111111111111"))
	type port struct {
		job api.JobID
		api.PublishedPort
	}
	ports := func() (all []port) {
		for _, job := range []api.JobID{"j00000001", "j00000002", "j00000003"} {
			for _, p := range r.Of(job) {
				all = append(all, port{job, p})
			}
		}
		return all
	}
	where := func() (all []string) {
		for _, p := range ports() {
			for _, a := range p.Addresses {
				all = append(all, fmt.Sprintf("%s %d %s", p.job, slices.Index([]int{max(first, second), min(first, second)}, p.Port), a.Addr()))
			}
		}
		return all
	}
	is.Equal(where(), []string{"j00000001 -1 127.0.9.1", "j00000002 1 127.0.9.1", "j00000002 0 127.0.9.9"}[:3])
	networks = []netip.Addr{here(3), here(2)}
	r.networksChanged()
	is.Equal(where()[:4], []string{"j00000001 -1 127.0.9.2", "j00000001 -1 127.0.9.3", "j00000002 1 127.0.9.2", "j00000002 1 127.0.9.3"})
	is.Equal(r.Of("j00000002")[0].Key, r.key("j00000002"))
	is.Equal(r.Of("j00000002")[1].Key, "") // it is not on the network
	gone, err := net.Listen("tcp", netip.AddrPortFrom(here(1), uint16(min(first, second))).String())
	is.NoErr(err) // the address is let go of
	is.NoErr(gone.Close())
	taken, err := net.Listen("tcp", netip.AddrPortFrom(here(4), uint16(min(first, second))).String())
	is.NoErr(err)
	defer taken.Close()
	networks = []netip.Addr{here(2), here(4)}
	r.networksChanged() // what can be opened is
	is.Equal(where()[2:], []string{"j00000002 1 127.0.9.2", "j00000002 0 127.0.9.9"})
	r.Close("j00000002")
	is.True(errors.Is(r.Open(spec, rank, "1111111111111111"), api.ReasonPortTaken))
	is.Equal(len(where()), 2)
	conn, err := net.Dial("tcp", netip.AddrPortFrom(here(9), uint16(max(first, second))).String())
	is.True(err != nil) // nor the other one
	is.True(conn == nil)
	r.Shut()
	is.Equal(len(ports()), 0)
	is.True(errors.Is(r.Open(spec, rank, "1111111111111111"), api.ReasonCancelled))
	r.Serve(rank, 1, []int{1}, func([]int) { t.Error("after its end") })()

	plain := lonely()
	is.Equal(plain.addresses(api.Publish{}), []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()})
	is.Equal(len(plain.addresses(api.Publish{LAN: true})), 0)
	is.Equal(plain.key("j00000001"), plain.key("j00000001"))
}

// listeners tells who listens, as a test has it.
type listeners struct {
	native.Processes
	mu    sync.Mutex
	open  map[int]bool
	known int // how often it was asked whether somebody listens still
	asked int // how often at all
	err   error
}

func (l *listeners) Listens(_, port int, before native.Listening) (native.Listening, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked++
	now := native.Listening{Group: l.open[port]}
	if before == now && now.Group {
		l.known++
	}
	return now, l.err
}

// asks is how often it was asked until now.
func (l *listeners) asks() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked
}

func (l *listeners) set(ports ...int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = map[int]bool{}
	for _, p := range ports {
		l.open[p] = true
	}
}

func (l *listeners) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
}

// reports is what was told, in order.
type reports struct {
	mu  sync.Mutex
	all [][]int
}

func (t *reports) add(open []int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, open)
}

func (t *reports) from(n int) [][]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.all[n:])
}

// A port is looked for until it is there, each change is told once and in order, and a
// connection that was taken, or was not, says more than the last look.
func TestWhatIsOpenIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		who := &listeners{}
		r := lonely(func(c *Config) { c.Processes = who })
		rank := api.RankRef{Job: "j00000001", Attempt: 1}
		var reported, second reports
		r.Serve(rank, 1, []int{30, 10, 20}, reported.add)
		synctest.Wait()
		is.Equal(len(reported.from(0)), 0) // nothing is new
		who.set(20)
		time.Sleep(checkEvery - 1)
		synctest.Wait()
		is.Equal(len(reported.from(0)), 0)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		is.Equal(reported.from(0), [][]int{{20}})
		who.set(10, 20, 30)
		time.Sleep(checkEvery)
		synctest.Wait()
		is.Equal(reported.from(1), [][]int{{10, 20, 30}})
		who.set() // all are there: nobody looks any more
		time.Sleep(10 * checkEvery)
		synctest.Wait()
		is.Equal(len(reported.from(0)), 2)
		s := r.served[rank]
		is.True(s.timer == nil)
		is.Equal(who.known, 0)
		who.set(20)
		for range 2 {
			isOurs, err := s.listensAt(20)
			is.NoErr(err)
			is.True(isOurs)
		}
		is.Equal(who.known, 2) // it is not looked up anew for each connection
		who.set()
		s.tried(20, true) // as was known
		is.Equal(len(reported.from(0)), 2)
		s.tried(20, false)
		is.Equal(reported.from(2), [][]int{{10, 30}})
		s.tried(20, false)
		s.tried(20, true)
		s.tried(20, true)
		is.Equal(reported.from(3), [][]int{{10, 20, 30}})
		s.tried(10, false)
		who.fail(errors.New("not told"))
		who.set(10)
		time.Sleep(checkEvery)
		synctest.Wait()
		is.Equal(len(reported.from(0)), 5) // what is not told is not open
		who.fail(nil)
		time.Sleep(checkEvery)
		synctest.Wait()
		is.Equal(reported.from(5), [][]int{{10, 20, 30}})
		s.tried(10, false)

		who.set()
		again := r.Serve(rank, 1, []int{10}, second.add) // takes the place of the first
		synctest.Wait()
		who.set(10)
		time.Sleep(checkEvery)
		synctest.Wait()
		is.Equal(len(reported.from(0)), 7)
		is.Equal(second.from(0), [][]int{{10}})
		again()
		is.True(r.served[rank] == nil)
		s.tried(10, true)
		is.Equal(len(reported.from(0)), 7)
	})
}

// A port that comes and goes is looked for as often as another one that is not there.
func TestHowOftenAPortIsLookedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		who := &listeners{}
		r := lonely(func(c *Config) { c.Processes = who })
		rank := api.RankRef{Job: "j00000001", Attempt: 1}
		defer r.Serve(rank, 1, []int{10}, func([]int) {})()
		synctest.Wait()
		for range 5 {
			r.served[rank].tried(10, true)
			r.served[rank].tried(10, false)
		}
		before := who.asks()
		time.Sleep(10 * checkEvery)
		synctest.Wait()
		is.Equal(who.asks()-before, 10)
	})
}
