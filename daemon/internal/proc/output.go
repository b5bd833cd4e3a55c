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

// capture is an io.Writer that keeps the beginning and the end. Its memory is
// bounded; writing costs the time of one copy of what is kept.
type capture struct {
	mu    sync.Mutex
	head  []byte
	tail  []byte // what came after the head; all but its end is dropped now and then
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
	c.tail = append(c.tail, p[max(0, len(p)-tailBytes):]...)
	if len(c.tail) > 2*tailBytes {
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-tailBytes:]...)
	}
	return n, nil
}

// String is what was kept so far, with a line in place of what was dropped.
func (c *capture) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	tail := c.tail[max(0, len(c.tail)-tailBytes):]
	dropped := c.total - int64(len(c.head)) - int64(len(tail))
	if dropped == 0 {
		return string(c.head) + string(tail)
	}
	return fmt.Sprintf("%s\n[%d bytes left out]\n%s", c.head, dropped, tail)
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
