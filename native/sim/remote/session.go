package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"fulmen/native"
	"fulmen/native/sim"
	"fulmen/native/sim/loopback"
)

// session is one connected process.
type session struct {
	world  *sim.World
	conn   net.Conn
	ctx    context.Context
	cancel context.CancelFunc
	out    chan []byte
	table  map[method]handler

	// The Mac; set by hello, before anything else is answered.
	platform *native.Platform
	exchange loopback.Exchange

	mu      sync.Mutex
	works   map[uint64]*work
	running int
	done    sync.WaitGroup
}

// work is a request under way, or what one has begun.
type work struct {
	cancel context.CancelFunc
	ended  bool
	stop   func() // once it has begun something
}

func newSession(ctx context.Context, world *sim.World, conn net.Conn) *session {
	s := &session{world: world, conn: conn, table: handlers(), out: make(chan []byte, maxQueued), works: map[uint64]*work{}}
	s.ctx, s.cancel = context.WithCancel(ctx)
	return s
}

// run serves until the process goes. Whatever it had begun ends with it.
func (s *session) run() {
	s.done.Go(s.write)
	release := context.AfterFunc(s.ctx, func() { _ = s.conn.SetReadDeadline(time.Unix(1, 0)) })
	defer release()
	if err := s.receive(); s.ctx.Err() == nil {
		// Best effort: who has sent nonsense may still read why.
		s.push(message{ID: 1, Error: failed(err)})
	}
	s.leave()
	s.cancel()
	s.done.Wait()
	_ = s.conn.Close()
}

// receive reads requests until there are no more.
func (s *session) receive() error {
	_ = s.conn.SetReadDeadline(time.Now().Add(helloWithin))
	for first := true; ; first = false {
		m, err := read(s.conn)
		if err != nil {
			return err
		}
		if !m.isRequest() || first != (m.Method == methodHello) {
			return errors.New("the first message of a connection must be a hello, and all others requests")
		}
		if first {
			result, err := s.hello(m.Params)
			if err != nil {
				return err
			}
			_ = s.conn.SetReadDeadline(time.Time{})
			s.reply(m.ID, result, nil)
			continue
		}
		if err := s.begin(m); err != nil {
			return err
		}
	}
}

// hello says which Mac the connection is for.
func (s *session) hello(raw json.RawMessage) (helloResult, error) {
	var p helloParams
	if err := strictly(raw, &p); err != nil {
		return helloResult{}, err
	}
	if p.Protocol != protocol {
		return helloResult{}, fmt.Errorf("it speaks version %d of the protocol, but this simulated world version %d: use programs of the same build", p.Protocol, protocol)
	}
	if p.Mac != "" {
		platform, err := s.world.Attach(p.Mac, func(e loopback.Exchange) native.Sockets {
			s.exchange = e
			return nil
		})
		if err != nil {
			return helloResult{}, err
		}
		s.platform = &platform
	}
	return helloResult{Scenario: s.world.Name(), Macs: s.world.Macs()}, nil
}

// begin starts the work of a request. An error ends the connection.
func (s *session) begin(m message) error {
	handle := s.table[m.Method]
	if handle == nil || s.platform == nil && m.Method != methodApply && m.Method != methodRecorded && m.Method != methodEnd {
		return fmt.Errorf("there is no method %.40q here", m.Method)
	}
	ctx, cancel := context.WithCancel(s.ctx)
	own := &work{cancel: cancel}
	s.mu.Lock()
	_, twice := s.works[m.ID]
	if twice || s.running == maxRunning {
		s.mu.Unlock()
		cancel()
		return fmt.Errorf("request %d is running already, or %d requests are", m.ID, maxRunning)
	}
	s.works[m.ID] = own
	s.running++
	s.mu.Unlock()
	s.done.Go(func() {
		defer cancel()
		result, stop, err := handle(ctx, s, m.ID, m.Params)
		s.mu.Lock()
		s.running--
		own.stop = stop
		over := own.ended
		if stop == nil || over {
			delete(s.works, m.ID)
		}
		s.mu.Unlock()
		if stop != nil && over {
			stop()
		}
		s.reply(m.ID, result, err)
	})
	return nil
}

// end ends a request or what it began; what is not there has ended.
func (s *session) end(id uint64) {
	s.mu.Lock()
	own := s.works[id]
	if own == nil {
		s.mu.Unlock()
		return
	}
	own.ended = true
	own.cancel()
	stop := own.stop
	if stop != nil {
		delete(s.works, id)
	}
	s.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// leave gives the Mac back: its announcements, open ports and watches end.
func (s *session) leave() {
	if s.platform != nil {
		_ = s.platform.Close()
	}
}

func (s *session) reply(id uint64, result any, err error) {
	m := message{ID: id}
	if err == nil {
		m.Result, err = json.Marshal(result)
	}
	if err != nil {
		m.Result, m.Error = nil, failed(err)
	}
	s.push(m)
}

// queueCall sends news of what a request began. It must not wait: the world calls it.
func (s *session) queueCall(id uint64, event any) {
	raw, err := json.Marshal(event)
	if err != nil {
		s.cancel() // facts that are no plain data: a defect
		return
	}
	s.push(message{ID: id, Event: raw})
}

func (s *session) push(m message) {
	data, err := encode(m)
	if err != nil {
		data, err = encode(message{ID: m.ID, Error: failed(err)})
	}
	select {
	case s.out <- data:
	default:
		err = errors.New("it does not read its answers")
	}
	if err != nil {
		s.cancel()
	}
}

// write sends what is queued, and at the end what is left, if that is taken
// soon.
func (s *session) write() {
	for within := writeWithin; ; {
		var data []byte
		select {
		case data = <-s.out:
		case <-s.ctx.Done():
			within = partWithin
			select {
			case data = <-s.out:
			default:
				return
			}
		}
		_ = s.conn.SetWriteDeadline(time.Now().Add(within))
		if _, err := s.conn.Write(data); err != nil {
			s.cancel()
			return
		}
	}
}
