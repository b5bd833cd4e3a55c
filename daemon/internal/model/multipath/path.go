package multipath

import (
	"io"
	"net"
	"net/netip"
	"slices"
)

// path is one of the connections that carry a Conn, whose mutex guards it.
type path struct {
	conn  net.Conn
	at    netip.Addr
	ended chan struct{}
	words [headBytes]byte

	isLost          bool
	isBusy          bool   // somebody writes
	writing         *block // nil = only what is to be said
	sent, confirmed uint64 // bytes, as this and the other end count them
	received        uint64
	acked           uint64 // of received
	isAsked         bool   // at the end
	isDue, isAsking bool   // there is something to say, or to ask
	known           uint64 // what was confirmed at the last look
	stalled         int    // looks since something was
}

// serve carries until the path is lost.
func (c *Conn) serve(p *path) {
	read := make(chan struct{})
	go func() {
		defer close(read)
		for c.receive(p) == nil {
		}
		c.mu.Lock()
		c.lostLocked(p)
		c.mu.Unlock()
	}()
	c.send(p)
	<-read
	close(p.ended)
}

// lostLocked ends a path. Its blocks go over others once its writer has left them.
func (c *Conn) lostLocked(p *path) {
	if p.isLost {
		return
	}
	p.isLost = true
	c.paths = slices.DeleteFunc(c.paths, func(o *path) bool { return o == p })
	c.since = c.clock.Boot()
	go p.conn.Close() // TLS may wait
	c.work.Broadcast()
	c.hasRoom.Broadcast()
	c.Lost.Wake()
}

// send writes blocks, and what is to be said, until the path is lost.
func (c *Conn) send(p *path) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !p.isLost || p.isBusy {
		var b *block
		if !p.isBusy && (len(c.paths) == 1 || p.sent-p.confirmed < pathWindow) {
			b = c.nextLocked()
		}
		if p.isBusy || b == nil && !p.isDue && !p.isAsking {
			c.work.Wait()
			continue
		}
		c.writeLocked(p, b)
	}
	for _, b := range c.blocks {
		if b.path == p {
			b.path = nil
			c.unsent += b.size()
		}
	}
	c.work.Broadcast()
}

// writeLocked writes a block by an idle path, or without one what is to be said. It unlocks
// meanwhile.
func (c *Conn) writeLocked(p *path, b *block) {
	h := head{read: c.next, received: p.received}
	p.acked = p.received
	if p.isAsking {
		h.flags |= flagAsk
	}
	p.isDue, p.isAsking = false, false
	frame := p.words[:]
	if b != nil {
		frame, h.offset, h.length = b.buffer, b.offset, uint64(b.size())
		b.path = p
		p.sent += h.length
		c.unsent -= b.size()
		if b.isEnd {
			h.flags |= flagEnd
			p.sent++ // it is to be confirmed too
		}
		c.hasRoom.Broadcast()
	}
	h.put(frame)
	p.isBusy, p.writing = true, b
	c.mu.Unlock()
	_, err := p.conn.Write(frame)
	c.mu.Lock()
	p.isBusy, p.writing = false, nil
	if err != nil {
		c.lostLocked(p)
	}
	if p.isLost {
		c.work.Broadcast()
	}
}

// nextLocked is the first block that goes over no path yet.
func (c *Conn) nextLocked() *block {
	for _, b := range c.blocks {
		if b.path == nil {
			return b
		}
	}
	return nil
}

// receive takes one frame.
func (c *Conn) receive(p *path) error {
	h, err := readHead(p.conn)
	if err != nil {
		return err
	}
	if err := c.confirm(p, h); err != nil || h.length == 0 {
		return err
	}
	c.mu.Lock()
	isMuch := h.offset+h.length > c.next+window+blockBytes || c.heldBytes > 2*window
	var data []byte
	if h.length > blockBytes/4 {
		data = c.bufferLocked()[:h.length]
	} else {
		data = make([]byte, h.length)
	}
	c.mu.Unlock()
	if isMuch {
		return errFrame
	}
	if _, err := io.ReadFull(p.conn, data); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.isLost {
		return net.ErrClosed
	}
	if p.received += h.length; p.received-p.acked >= ackEvery && !p.isDue {
		p.isDue = true
		c.work.Broadcast()
	}
	if _, isHeld := c.held[h.offset]; isHeld || h.offset < c.taken {
		c.freeLocked(data) // it has come by another path
		return nil
	}
	c.held[h.offset] = data
	c.heldBytes += cap(data)
	c.arrived.Signal()
	return nil
}

// confirm takes what the other end says of what has come there, and that it has ended.
func (c *Conn) confirm(p *path, h head) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.isLost || h.received > p.sent || h.read > c.written {
		return errFrame
	}
	isNew := h.received > p.confirmed || h.flags&flagAsk != 0
	p.confirmed = max(p.confirmed, h.received)
	if isNew && c.isClosed {
		c.hasRoom.Broadcast()
	}
	if h.flags&flagEnd != 0 {
		p.received++
		c.end = &h.offset
		c.arrived.Signal()
	}
	p.isDue = p.isDue || h.flags&flagAsk != 0
	if h.read > c.read {
		c.read = h.read
		kept := c.blocks[:0]
		for _, b := range c.blocks {
			switch isRead := b.offset+uint64(b.size()) <= c.read; {
			case !isRead || b.isEnd:
				kept = append(kept, b)
			case b.path == nil: // it was to go again
				c.unsent -= b.size()
				c.freeLocked(b.buffer)
			case b.path.writing != b:
				c.freeLocked(b.buffer)
			}
		}
		clear(c.blocks[len(kept):])
		c.blocks = kept
		c.hasRoom.Broadcast()
	}
	if isNew {
		c.work.Broadcast()
	}
	return nil
}
