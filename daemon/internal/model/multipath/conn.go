package multipath

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"fulmen/native"
	"fulmen/native/waker"
)

const (
	// window bounds what is written and not read at the other end yet.
	window = 16 << 20
	// pathWindow is the part of it that one of several paths may have: what a slow one has
	// under way holds up the others.
	pathWindow = 2 << 20
	// unsentMost bounds what is written and goes over no path yet.
	unsentMost = 1 << 20
	// keptMost bounds the buffers that are kept for later.
	keptMost = 4 << 20
	// ackEvery is after how many bytes the other end gets to know that they have come.
	ackEvery = 512 << 10
	// lookEvery is how often paths are looked at on which something is under way.
	lookEvery = 500 * time.Millisecond
	// stalledAfter is how many looks later a path counts as broken, where others go on.
	stalledAfter = 4
	// pathlessFor is how long the connection lasts without a path.
	pathlessFor = 2 * time.Second
	// flushWithin is how long Close waits until all is on its way.
	flushWithin = 2 * time.Second
)

// ErrNoPath is the error of a connection of which all paths have ended.
var ErrNoPath = errors.New("all paths of a connection have ended")

// Conn is the connection.
type Conn struct {
	// Lost wakes when a path has ended.
	Lost waker.Waker

	clock native.Clock

	mu    sync.Mutex
	paths []*path
	err   error // why it is over
	timer native.Timer
	since time.Duration // when the last path ended

	// What is written.
	work     *sync.Cond // for paths
	hasRoom  *sync.Cond // for Write
	blocks   []*block   // in order, until they are read at the other end
	free     [][]byte
	written  uint64
	unsent   int
	read     uint64 // by the other end
	isClosed bool

	// What is read.
	arrived   *sync.Cond
	held      map[uint64][]byte // by offset
	heldBytes int
	current   []byte // what Read has begun, and its rest
	rest      []byte
	taken     uint64 // by who reads
	next      uint64 // of it, what was read
	acked     uint64
	end       *uint64
}

// block is a part of what is written.
type block struct {
	buffer []byte // a head, then the data
	offset uint64
	path   *path // nil = it waits for one
	isEnd  bool
}

func (b *block) size() int { return len(b.buffer) - headBytes }

// New makes a connection without a path; Close ends it.
func New(clock native.Clock) *Conn {
	c := &Conn{Lost: waker.New(), clock: clock, held: map[uint64][]byte{}}
	c.work, c.hasRoom, c.arrived = sync.NewCond(&c.mu), sync.NewCond(&c.mu), sync.NewCond(&c.mu)
	c.since = clock.Boot()
	c.timer = clock.AfterFunc(lookEvery, c.look)
	return c
}

// Path is a way that carries some of it.
type Path struct {
	// At is the address of the other end.
	At netip.Addr
	// Received and Sent are the bytes that have come and gone by it.
	Received, Sent uint64
}

// Paths are those that carry it now, in the order in which they were added.
func (c *Conn) Paths() []Path {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]Path, len(c.paths))
	for i, p := range c.paths {
		all[i] = Path{At: p.at, Received: p.received, Sent: p.sent}
	}
	return all
}

// Add has a connection carry some of it, and closes it in the end; ended is closed when it
// carries no more.
func (c *Conn) Add(conn net.Conn, at netip.Addr) (ended <-chan struct{}) {
	p := &path{conn: conn, at: at, ended: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil || c.isClosed {
		go conn.Close()
		close(p.ended)
		return p.ended
	}
	c.paths = append(c.paths, p)
	go c.serve(p)
	return p.ended
}

// Drop ends the paths to an address.
func (c *Conn) Drop(at netip.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range slices.Clone(c.paths) {
		if p.at == at {
			c.lostLocked(p)
		}
	}
}

// Write implements [io.Writer]; one at a time.
func (c *Conn) Write(data []byte) (n int, err error) {
	for n < len(data) {
		buffer, err := c.room()
		if err != nil {
			return n, err
		}
		part := copy(buffer[headBytes:], data[n:])
		n += part
		c.queue(buffer[:headBytes+part])
	}
	return n, nil
}

// CarryFrom writes what is read, up to its end.
func (c *Conn) CarryFrom(r io.Reader) error {
	for {
		buffer, err := c.room()
		if err != nil {
			return err
		}
		n, err := r.Read(buffer[headBytes:])
		c.queue(buffer[:headBytes+n])
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// room waits until more can be written, and gives a buffer for it.
func (c *Conn) room() ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.err == nil && !c.isClosed && (c.written-c.read >= window || c.unsent >= unsentMost) {
		c.hasRoom.Wait()
	}
	if c.err != nil || c.isClosed {
		return nil, c.overLocked()
	}
	return c.bufferLocked(), nil
}

// queue has a block sent: by whoever calls, where there is one path and it is idle, which
// saves a wake.
func (c *Conn) queue(buffer []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := &block{buffer: buffer, offset: c.written}
	if b.size() == 0 {
		c.freeLocked(buffer)
		return
	}
	isNext := c.unsent == 0
	c.blocks = append(c.blocks, b)
	c.written += uint64(b.size())
	c.unsent += b.size()
	if len(c.paths) == 1 && isNext && !c.paths[0].isBusy {
		c.writeLocked(c.paths[0], b)
	}
	c.work.Broadcast()
}

func (c *Conn) bufferLocked() []byte {
	if n := len(c.free); n > 0 {
		b := c.free[n-1]
		c.free = c.free[:n-1]
		return b
	}
	return make([]byte, headBytes+blockBytes)
}

// freeLocked keeps a buffer for another block.
func (c *Conn) freeLocked(buffer []byte) {
	if cap(buffer) == headBytes+blockBytes && len(c.free) < keptMost/blockBytes {
		c.free = append(c.free, buffer[:cap(buffer)])
	}
}

// Read implements [io.Reader]; one at a time.
func (c *Conn) Read(into []byte) (int, error) {
	if len(c.rest) == 0 {
		data, err := c.take()
		if err != nil {
			return 0, err
		}
		c.current, c.rest = data, data
	}
	n := copy(into, c.rest)
	c.rest = c.rest[n:]
	if len(c.rest) == 0 {
		c.done(c.current)
	}
	return n, nil
}

// CarryTo gives on what is read, up to the end.
func (c *Conn) CarryTo(w io.Writer) error {
	for {
		data, err := c.take()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
		c.done(data)
	}
}

// take waits for the next block.
func (c *Conn) take() ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if data, ok := c.held[c.taken]; ok {
			delete(c.held, c.taken)
			c.heldBytes -= cap(data)
			c.taken += uint64(len(data))
			return data, nil
		}
		switch {
		case c.end != nil && *c.end == c.taken:
			return nil, io.EOF
		case c.err != nil || c.isClosed:
			return nil, c.overLocked()
		}
		c.arrived.Wait()
	}
}

// done notes that a block was read.
func (c *Conn) done(data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next += uint64(len(data))
	c.freeLocked(data)
	if c.next-c.acked >= ackEvery {
		c.acked = c.next
		for _, p := range c.paths { // one may be stalled
			p.isDue = true
		}
		c.work.Broadcast()
	}
}

func (c *Conn) overLocked() error {
	if c.err != nil {
		return c.err
	}
	return net.ErrClosed
}

// Close waits until all that was written has come at the other end, for as long as that may
// take, and ends all paths.
func (c *Conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isClosed {
		return nil
	}
	c.isClosed = true
	c.blocks = append(c.blocks, &block{buffer: make([]byte, headBytes), offset: c.written, isEnd: true})
	for _, on := range []*sync.Cond{c.work, c.hasRoom, c.arrived} {
		on.Broadcast()
	}
	isLate := false
	late := c.clock.AfterFunc(flushWithin, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		isLate = true
		c.hasRoom.Broadcast()
	})
	defer late.Stop()
	for !isLate && c.err == nil && !c.isThereLocked() {
		c.hasRoom.Wait()
	}
	c.failLocked(net.ErrClosed)
	return nil
}

// isThereLocked reports whether all that was written has come: a path that is closed before
// can lose it. It has paths asked of which that is not known.
func (c *Conn) isThereLocked() bool {
	isThere := c.nextLocked() == nil
	for _, p := range c.paths {
		if isThere && p.sent > p.confirmed {
			isThere = false
			if !p.isAsked {
				p.isAsked, p.isAsking = true, true
				c.work.Broadcast()
			}
		}
	}
	return isThere || len(c.paths) == 0
}

// failLocked ends it.
func (c *Conn) failLocked(err error) {
	if c.err == nil {
		c.err = err
	}
	c.timer.Stop()
	for _, p := range slices.Clone(c.paths) {
		c.lostLocked(p)
	}
	for _, on := range []*sync.Cond{c.work, c.hasRoom, c.arrived} {
		on.Broadcast()
	}
}

// look finds paths on which nothing comes that should, and that none is left.
func (c *Conn) look() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Boot()
	switch {
	case c.err != nil:
		return
	case len(c.paths) > 0:
		c.since = now
	case now-c.since >= pathlessFor:
		c.failLocked(ErrNoPath)
		return
	}
	c.timer = c.clock.AfterFunc(lookEvery, c.look)
	for _, p := range c.paths {
		if p.known == p.confirmed && p.sent > p.confirmed {
			p.stalled++
			p.isAsking = true
		} else {
			p.stalled = 0
		}
		p.known = p.confirmed
	}
	c.work.Broadcast()
	goesOn := func(p *path) bool { return p.stalled == 0 }
	for _, p := range slices.Clone(c.paths) {
		if p.stalled >= stalledAfter && slices.ContainsFunc(c.paths, goesOn) {
			c.lostLocked(p)
		}
	}
}
