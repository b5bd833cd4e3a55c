package darwin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"fulmen/native"
	"fulmen/native/waker"
)

// discovery is DNS-SD through the system's responder. Each announcement and each
// search has a connection of its own, and a goroutine while it lasts.
type discovery struct {
	machine *machine
	connect func() (responder, error)

	mu       sync.Mutex
	closed   bool
	sessions map[*session]bool
	own      map[string]int // instances that this platform announces
}

var _ native.Discovery = (*discovery)(nil)

// Announce publishes the service on the named interfaces and follows them: an
// interface that comes back has another index, under which it is published again.
func (d *discovery) Announce(ctx context.Context, a native.Announcement) (withdraw func() error, err error) {
	if a.Type == "" || a.Instance == "" || a.Port < 1 || a.Port > 65535 || len(a.Interfaces) == 0 {
		return nil, fmt.Errorf("an announcement needs type, instance, a port from 1 to 65535 and interfaces")
	}
	txt, err := encodeTXT(a.TXT)
	if err != nil {
		return nil, err
	}
	p := &publication{announcement: a, txt: txt, at: map[string]int{}, tokens: map[string]int64{}}
	p.announcement.Interfaces = slices.Clone(a.Interfaces)
	d.count(a.Instance, 1) // before anybody hears of it, this platform's own searches too
	s, err := d.begin(ctx, p)
	if err != nil {
		d.count(a.Instance, -1)
		return nil, err
	}
	return sync.OnceValue(func() error {
		defer d.count(a.Instance, -1)
		return s.end()
	}), nil
}

// Browse reports what others announce. stop must not be called by the callback.
func (d *discovery) Browse(ctx context.Context, serviceType string, interfaces []string, notify func(native.Sighting)) (stop func() error, err error) {
	if serviceType == "" {
		return nil, errors.New("a search needs a service type")
	}
	s, err := d.begin(ctx, &search{
		serviceType: serviceType, interfaces: slices.Clone(interfaces), isOwn: d.isOwn, clock: d.machine.clock, found: notify,
		names: map[int]string{}, unplaced: map[instanceKey]found{}, instances: map[instanceKey]*instance{}, byToken: map[int64]*instance{},
	})
	if err != nil {
		return nil, err
	}
	return sync.OnceValue(s.end), nil
}

func (d *discovery) count(instance string, by int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.own[instance] += by
}

func (d *discovery) isOwn(instance string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.own[instance] > 0
}

// work is what a session does. Its methods come one at a time.
type work interface {
	// interfaces tells those that are there, by name, at the start and whenever
	// they may have changed.
	interfacesAre(r responder, indexes map[string]int) error
	handle(r responder, f found) error
	// lost forgets what was begun with a responder that has gone.
	lost(r responder)
}

// How long a session waits before it connects again, doubled up to the most unless
// the connection lasted that long.
const (
	reconnectFirst = time.Second
	reconnectMost  = time.Minute
)

// session is a connection with its work.
type session struct {
	discovery     *discovery
	work          work
	mu            sync.Mutex // around every call of responder and work
	responder     responder  // changed by read alone
	stopListening func() error
	changed       waker.Waker
	ctx           context.Context // until end
	cancel        context.CancelFunc
	running       sync.WaitGroup
	once          sync.Once
	err           error
}

func (d *discovery) begin(ctx context.Context, w work) (*session, error) {
	if err := d.machine.usable(ctx); err != nil {
		return nil, err
	}
	r, err := d.connect()
	if err != nil {
		return nil, native.Unsupported(native.FeatureDiscovery, whyNot(err))
	}
	s := &session{discovery: d, responder: r, work: w, changed: waker.New(), stopListening: func() error { return nil }}
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	// Without hints the interfaces are those of now.
	if stopListening, err := d.machine.listeners.listen(listener{hint: s.received}); err == nil {
		s.stopListening = stopListening
	}
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		s.cancel()
		return nil, errors.Join(native.ErrClosed, s.stopListening(), r.close())
	}
	d.sessions[s] = true
	d.mu.Unlock()
	if err := s.look(); err != nil {
		return nil, errors.Join(err, s.end())
	}
	s.running.Go(s.read)
	s.running.Go(s.follow)
	return s, nil
}

// received runs on the system's thread.
func (s *session) received(h native.Hint) {
	if h.Area != native.AreaNetwork {
		return
	}
	s.changed.Wake()
}

// look tells the work which interfaces there are.
func (s *session) look() error {
	interfaces, err := s.discovery.machine.interfaces()
	if err != nil {
		return err
	}
	indexes := map[string]int{}
	for _, i := range interfaces {
		indexes[i.Name] = i.Index
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.work.interfacesAre(s.responder, indexes)
}

func (s *session) follow() {
	for {
		select {
		case <-s.changed:
			// What cannot be published now is tried at the next change.
			_ = s.look()
		case <-s.ctx.Done():
			return
		}
	}
}

// read takes what the responder tells, until the session ends. Where the responder
// goes, as when the system starts it anew, the work begins again with the next one.
func (s *session) read() {
	clock := s.discovery.machine.clock
	pause := reconnectFirst
	for isLive := true; ; {
		began := clock.Boot()
		if isLive {
			s.take()
		}
		if clock.Boot()-began >= reconnectMost {
			pause = reconnectFirst
		}
		if !native.Pause(s.ctx, clock, pause) {
			return
		}
		pause = min(2*pause, reconnectMost)
		isLive = s.reconnect()
	}
}

// reconnect begins the work again with another connection; false where that
// cannot be done now.
func (s *session) reconnect() bool {
	next, err := s.discovery.connect()
	if err != nil {
		return false
	}
	s.mu.Lock()
	if s.ctx.Err() != nil {
		s.mu.Unlock()
		_ = next.close()
		return false
	}
	old := s.responder
	s.work.lost(old)
	s.responder = next
	s.mu.Unlock()
	_ = old.close()
	return s.look() == nil
}

// take takes what the responder tells, until the connection ends.
func (s *session) take() {
	for s.responder.wait() == nil {
		s.mu.Lock()
		events, err := s.responder.process()
		for _, f := range events {
			// What cannot be asked about is seen again when it is announced again.
			_ = s.work.handle(s.responder, f)
		}
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// end closes the connection and waits until nothing comes any more.
func (s *session) end() error {
	s.once.Do(func() {
		s.discovery.mu.Lock()
		delete(s.discovery.sessions, s)
		s.discovery.mu.Unlock()
		s.cancel()
		s.mu.Lock()
		r := s.responder
		s.mu.Unlock()
		s.err = errors.Join(s.stopListening(), r.close())
		s.running.Wait()
	})
	return s.err
}

// close ends every session.
func (d *discovery) close() error {
	d.mu.Lock()
	d.closed = true
	sessions := slices.Collect(maps.Keys(d.sessions))
	d.mu.Unlock()
	var err error
	for _, s := range sessions {
		err = errors.Join(err, s.end())
	}
	return err
}

// responder is a connection to the system's DNS-SD. Its methods are called one at
// a time; what it tells comes in process, and is kept until process has returned.
type responder interface {
	// register, browse, resolve and addresses begin an operation, whose events
	// carry the token, until end. An index of 0 is every interface.
	register(token int64, index int, instance, serviceType string, port int, txt []byte) error
	browse(token int64, index int, serviceType string) error
	resolve(token int64, index int, instance, serviceType, domain string) error
	addresses(token int64, index int, host string) error
	end(token int64)
	// wait returns nil when process has something to do, and an error once the
	// connection is closed. It alone may run beside the others.
	wait() error
	process() ([]found, error)
	close() error
}

// What is found, as dnssd.h numbers it.
const (
	foundRegistered = iota
	foundInstance
	foundResolved
	foundAddress
)

// found is one event of an operation.
type found struct {
	token  int64
	kind   int
	added  bool // else removed
	index  int
	failed int // the responder's error, 0 for none
	// text is an instance's name, or a host's; domain an instance's.
	text, domain string
	port         int
	data         []byte // a TXT record, or an address
}
