package relay

import (
	"cmp"
	"net"
	"sync"
	"time"

	"fulmen/daemon/api"
)

// idleSettle is how long nothing must be asked at most until the rank's document says so.
const idleSettle = 10 * time.Second

// settleOf is that of a job, which is less where it counts as idle soon.
func settleOf(spec api.JobSpec) time.Duration {
	return min(cmp.Or(api.Seconds(spec.IdleS)/2, idleSettle), idleSettle)
}

// usage counts the connections of a rank whose last bytes went to the program, by what passes
// through this daemon, and reports since when nothing is asked of it. What a program of this
// machine asks the rank's port itself does not count.
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
