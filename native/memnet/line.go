package memnet

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"time"
)

// DeadAfter is how long a line must be cut until the connections over it
// break: the limit that package bound gives the kernel, with its keepalives.
const DeadAfter = 8 * time.Second

// retransmission is what a lost packet costs: TCP's least timeout.
const retransmission = 200 * time.Millisecond

// Quality is how a line treats packets.
type Quality struct {
	// Delay is how long a packet takes, Jitter up to how much longer.
	Delay, Jitter time.Duration
	// LossRatio is how many of the packets must be sent again, 0 to 1.
	LossRatio float64
}

// Line is what joins two interfaces.
type Line struct {
	mu      sync.Mutex
	random  *rand.Rand
	quality Quality
	isCut   bool
	cuts    int           // how often it was cut
	changed chan struct{} // closed when isCut changes
	ends    map[*Conn]struct{}
}

// NewLine makes a line; the seed decides what it delays and loses.
func NewLine(seed uint64, quality Quality) *Line {
	return &Line{
		random: rand.New(rand.NewPCG(seed, 0)), quality: quality,
		changed: make(chan struct{}), ends: map[*Conn]struct{}{},
	}
}

// SetQuality changes how packets are treated from now on.
func (l *Line) SetQuality(q Quality) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.quality = q
}

// SetCut cuts or heals the line. What was sent before or during a cut arrives
// after it, if the connection still lives.
func (l *Line) SetCut(cut bool) {
	l.mu.Lock()
	if l.isCut == cut {
		l.mu.Unlock()
		return
	}
	l.isCut = cut
	close(l.changed)
	l.changed = make(chan struct{})
	if cut {
		l.cuts++
		which := l.cuts
		time.AfterFunc(DeadAfter, func() { l.dead(which) })
	}
	ends := slices.Collect(maps.Keys(l.ends))
	l.mu.Unlock()
	for _, c := range ends {
		c.in.wakeAll()
	}
}

// dead breaks all connections if the cut of that number still lasts.
func (l *Line) dead(which int) {
	l.mu.Lock()
	if !l.isCut || l.cuts != which {
		l.mu.Unlock()
		return
	}
	ends := slices.Collect(maps.Keys(l.ends))
	l.mu.Unlock()
	for _, c := range ends {
		c.breakWith(syscall.ETIMEDOUT)
	}
}

// state tells whether it is cut, and gives a channel that is closed when that
// changes.
func (l *Line) state() (isCut bool, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.isCut, l.changed
}

// latency is how long the next packet takes.
func (l *Line) latency() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	took := l.quality.Delay
	if l.quality.Jitter > 0 {
		took += time.Duration(l.random.Int64N(int64(l.quality.Jitter)))
	}
	for l.quality.LossRatio > 0 && l.random.Float64() < l.quality.LossRatio {
		took += retransmission
	}
	return took
}

func (l *Line) join(c *Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ends[c] = struct{}{}
}

func (l *Line) leave(c *Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.ends, c)
}
