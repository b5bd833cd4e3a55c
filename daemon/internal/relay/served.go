package relay

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/native"
)

// served is a rank of this node that publishes ports.
type served struct {
	relay  *Relay
	group  int
	ports  []int
	notify func(open []int)
	conns  conns
	people conns // those of them by Dial
	use    usage
	ctx    context.Context // ends with it
	stop   context.CancelFunc

	mu    sync.Mutex
	open  []int                    // in ascending order
	seen  map[int]native.Listening // who listened last, by port
	timer native.Timer
	over  bool

	reporting sync.Mutex
}

// checkEvery is how often a port is looked for that is not there yet.
const checkEvery = time.Second

// serve follows a rank of this node that publishes ports, until [Relay.Ended]. Notify
// is given the ports on which the processes of its group (a process group or session
// of that number) listen, in ascending order, each time that changes; calls come one
// at a time. Idle is given since when nothing is asked of it, once that lasts. It gives nil where the relay is closed.
func (r *Relay) serve(rank api.RankRef, group int, ports []int, notify func(open []int), settle time.Duration, idle func(since api.Time)) *served {
	ctx, stop := context.WithCancel(context.Background())
	s := &served{relay: r, group: group, ports: slices.Sorted(slices.Values(ports)), notify: notify, seen: map[int]native.Listening{}, ctx: ctx, stop: stop}
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		stop()
		return nil
	}
	before := r.served[rank]
	r.served[rank] = s
	r.mu.Unlock()
	if before != nil {
		before.shut()
	}
	s.use.begin(s, settle, idle)
	go s.check()
	return s
}

// check looks which ports are open. While one is missing it looks again: no
// system announces that a program begins to listen.
func (s *served) check() {
	s.reporting.Lock()
	defer s.reporting.Unlock()
	s.mu.Lock()
	over, before := s.over, s.open
	s.mu.Unlock()
	if over {
		return
	}
	now := before
	if missing := slices.DeleteFunc(slices.Clone(s.ports), func(p int) bool { return slices.Contains(before, p) }); len(missing) > 0 {
		now = slices.Sorted(slices.Values(append(slices.Clone(before), s.listening(missing)...)))
	}
	s.settleLocked(before, now)
}

// listening gives those of the ports on which a process of the group listens.
func (s *served) listening(ports []int) (open []int) {
	for _, port := range ports {
		if isOurs, err := s.listensAt(port); err == nil && isOurs {
			open = append(open, port)
		}
	}
	return open
}

// listensAt reports whether a process of the group listens at a port.
func (s *served) listensAt(port int) (bool, error) {
	s.mu.Lock()
	before := s.seen[port]
	s.mu.Unlock()
	l, err := s.relay.cfg.Processes.Listens(s.group, port, before)
	s.mu.Lock()
	s.seen[port] = l
	s.mu.Unlock()
	return l.Group, err
}

// settleLocked notes what is open and tells it. The caller holds telling.
func (s *served) settleLocked(before, now []int) {
	s.mu.Lock()
	over := s.over
	if !over {
		s.open = now
		if s.timer != nil {
			s.timer.Stop()
			s.timer = nil
		}
		if len(now) < len(s.ports) {
			s.timer = s.relay.cfg.Clock.AfterFunc(checkEvery, s.check)
		}
	}
	s.mu.Unlock()
	if !over && !slices.Equal(before, now) {
		s.notify(now)
	}
}

// tried notes whether the program took a connection.
func (s *served) tried(port int, took bool) {
	s.mu.Lock()
	same := slices.Contains(s.open, port) == took
	s.mu.Unlock()
	if same {
		return
	}
	s.reporting.Lock()
	defer s.reporting.Unlock()
	s.mu.Lock()
	before := s.open
	s.mu.Unlock()
	now := slices.DeleteFunc(slices.Clone(before), func(p int) bool { return p == port })
	if took {
		now = slices.Sorted(slices.Values(append(now, port)))
	}
	s.settleLocked(before, now)
}

func (s *served) shut() {
	s.mu.Lock()
	s.over = true
	if s.timer != nil {
		s.timer.Stop()
	}
	s.mu.Unlock()
	s.use.shut()
	s.stop()
	s.conns.shut()
}

// accept serves a connection of a node to a port of a rank here.
func (r *Relay) accept(ctx context.Context, who gate.Acting, refused error, first api.PeerConn, conn net.Conn) {
	defer conn.Close()
	if refused != nil {
		report(conn, statusDenied)
		return
	}
	r.mu.Lock()
	s := r.served[first.Rank]
	r.mu.Unlock()
	if s == nil || !slices.Contains(s.ports, first.Port) || !r.target(who.Job(), first.Rank, first.Port) {
		r.cfg.Log.Warn("a node asked for a port that is none of its", "from", who.Node(), "rank", first.Rank, "port", first.Port)
		report(conn, statusDenied)
		return
	}
	if !s.conns.add(conn, MaxConnections) {
		report(conn, statusFull)
		return
	}
	defer s.conns.remove(conn)
	if first.By != (api.Principal{}) {
		s.people.add(conn, MaxConnections)
		defer s.people.remove(conn)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	program, err := s.connect(ctx, first.Port)
	s.tried(first.Port, err == nil)
	if err != nil {
		report(conn, statusRefused)
		return
	}
	if !report(conn, statusOpen) {
		reset(program)
		return
	}
	asked := &counted{TCPConn: program, use: &s.use, owe: func() func() { return r.cfg.Ranks.Owe(first.Rank, api.DebtRequest) }}
	defer asked.turn(false)
	carry(conn, asked, nil)
}

func report(conn net.Conn, what byte) bool {
	_, err := conn.Write([]byte{what})
	return err == nil
}

// errOthers is a port at which the rank's program does not listen.
var errOthers = errors.New("no process of the rank listens at the port")

// connect connects to a port of the loopback of this machine where the rank's
// program listens: what else may be there was not published by anybody.
func (s *served) connect(ctx context.Context, port int) (*net.TCPConn, error) {
	isOurs, err := s.listensAt(port)
	if err != nil {
		s.relay.cfg.Log.Warn("a connection to a published port is refused: the system does not tell who listens there", "port", port, "err", err)
		return nil, err
	}
	if !isOurs {
		return nil, errOthers
	}
	ctx, cancel := native.WithTimeout(ctx, s.relay.cfg.Clock, connectWithin, "the program to take a connection to port "+strconv.Itoa(port))
	defer cancel()
	var d net.Dialer
	var problem error
	for _, a := range []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()} {
		conn, err := d.DialContext(ctx, "tcp", netip.AddrPortFrom(a, uint16(port)).String())
		if err == nil {
			return conn.(*net.TCPConn), nil // as the network is tcp
		}
		if problem == nil {
			problem = err
		}
	}
	return nil, problem
}
