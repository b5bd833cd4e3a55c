package relay

import (
	"cmp"
	"net"
	"sync"
	"time"

	"fulmen/daemon/api"
)

// Use is how what a rank serves is used, by what passes through this daemon. What a
// program of this machine asks the rank's port itself does not.
type Use struct {
	// Open is how many requests have no answer yet: those of [Relay.Request], and
	// connections whose last bytes went to the program.
	Open int
	// Last is when one of them moved a byte or ended, on Boot; before the first, when the
	// rank was started.
	Last time.Duration
}

// Use is how a rank of this node is used; false where that is not followed.
func (r *Relay) Use(rank api.RankRef) (Use, bool) {
	r.mu.Lock()
	s := r.served[rank]
	r.mu.Unlock()
	if s == nil {
		return Use{}, false
	}
	s.use.mu.Lock()
	defer s.use.mu.Unlock()
	return Use{s.use.open, s.use.last}, true
}

// Request counts a request to a rank of this node that comes by a way of the caller's
// own, until done is called, once.
func (r *Relay) Request(rank api.RankRef) (done func()) {
	r.mu.Lock()
	s := r.served[rank]
	r.mu.Unlock()
	if s == nil {
		return func() {}
	}
	s.use.moved(1)
	return func() { s.use.moved(-1) }
}

// idleSettle is how long nothing must be asked at most until the rank's document says so.
const idleSettle = 10 * time.Second

// settleOf is that of a job, which is less where it counts as idle soon.
func settleOf(spec api.JobSpec) time.Duration {
	return min(cmp.Or(api.Seconds(spec.IdleS)/2, idleSettle), idleSettle)
}

// usage counts it for one rank, and reports since when nothing is asked of it.
type usage struct {
	served *served
	settle time.Duration
	report func(idleSince api.Time) // zero: it is asked

	mu       sync.Mutex
	open     int
	last     time.Duration
	reported bool // that it is idle
	waits    bool // for settle to be over
	closed   bool
}

// begin counts from now.
func (u *usage) begin(s *served, settle time.Duration, report func(api.Time)) {
	u.served, u.settle, u.report = s, settle, report
	u.moved(0)
}

// moved notes that so many more requests are open, and that one moved.
func (u *usage) moved(opened int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	clock := u.served.relay.cfg.Clock
	u.open, u.last = u.open+opened, clock.Boot()
	if u.reported && !u.closed {
		u.reported = false
		u.report(api.Time{})
	}
	if !u.waits && !u.closed {
		u.waits = true
		clock.AfterFunc(u.settle, u.look)
	}
}

// look reports that nothing is asked, once that is so for long enough.
func (u *usage) look() {
	u.mu.Lock()
	defer u.mu.Unlock()
	clock := u.served.relay.cfg.Clock
	unasked := clock.Boot() - u.last
	switch {
	case u.closed || u.open > 0:
		u.waits = false
	case unasked < u.settle:
		clock.AfterFunc(u.settle-unasked, u.look)
	default:
		u.waits, u.reported = false, true
		u.report(api.TimeOf(clock.Now().Add(-unasked)))
	}
}

func (u *usage) shut() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
}

// counted is a connection to the program whose requests count.
type counted struct {
	*net.TCPConn
	use *usage
	owe func() (paid func())

	mu   sync.Mutex
	paid func() // bytes went to the program, and none have come back; else nil
}

// Write passes on what is asked.
func (c *counted) Write(b []byte) (int, error) {
	c.turn(true)
	return c.TCPConn.Write(b)
}

// Read passes on the answer.
func (c *counted) Read(b []byte) (int, error) {
	n, err := c.TCPConn.Read(b)
	if n > 0 {
		c.turn(false)
	}
	return n, err
}

// turn notes in which direction bytes went last.
func (c *counted) turn(owes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	opened := 0
	switch {
	case owes && c.paid == nil:
		opened, c.paid = 1, c.owe()
	case !owes && c.paid != nil:
		c.paid()
		opened, c.paid = -1, nil
	}
	c.use.moved(opened)
}
