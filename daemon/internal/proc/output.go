package proc

import (
	"fmt"
	"io"
	"sync"
)

// How much of each output is kept. The end has room for the traces of a Go
// program that crashed, whose first lines say why.
const (
	headBytes = 4 << 10
	tailBytes = 32 << 10
)

// Output is the beginning and the end of what a process printed.
type Output struct {
	Head, Tail []byte
	// DroppedBytes is how much between the two was not kept.
	DroppedBytes int64
}

// String is the output, with a line in place of what was dropped.
func (o Output) String() string {
	if o.DroppedBytes == 0 {
		return string(o.Head) + string(o.Tail)
	}
	return fmt.Sprintf("%s\n[%d bytes left out]\n%s", o.Head, o.DroppedBytes, o.Tail)
}

// capture is an io.Writer that keeps the beginning and the end. Its memory is
// bounded; writing costs the time of one copy of what is kept.
type capture struct {
	mu    sync.Mutex
	head  []byte
	ring  []byte // the last bytes after the head; the oldest is at next once it is full
	next  int
	total int64
}

// Write never fails.
func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(p)
	c.total += int64(n)
	take := min(headBytes-len(c.head), n)
	c.head = append(c.head, p[:take]...)
	p = p[take:]
	if len(p) > tailBytes {
		p = p[len(p)-tailBytes:]
	}
	for len(p) > 0 {
		if len(c.ring) < tailBytes {
			grow := min(tailBytes-len(c.ring), len(p))
			c.ring = append(c.ring, p[:grow]...)
			p = p[grow:]
			continue
		}
		put := copy(c.ring[c.next:], p)
		c.next = (c.next + put) % tailBytes
		p = p[put:]
	}
	return n, nil
}

// output is what was kept so far.
func (c *capture) output() Output {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := Output{Head: append([]byte(nil), c.head...)}
	o.Tail = append(append(o.Tail, c.ring[c.next:]...), c.ring[:c.next]...)
	o.DroppedBytes = c.total - int64(len(o.Head)) - int64(len(o.Tail))
	return o
}

// drain reads r to its end. Only the buffer that it reads into is large: a
// worker that prints a gigabyte must not be slowed down by it.
func (c *capture) drain(r io.Reader) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := r.Read(buffer)
		_, _ = c.Write(buffer[:n])
		if err != nil {
			return
		}
	}
}
