package sidechannel

import (
	"io"
	"net"
	"sync"
)

// atOnce is how many bytes of an outbox are written by whoever puts them there: a
// socket takes as many without waiting, and to wake another goroutine for every
// few bytes of a handshake takes longer than to send them.
const atOnce = 8 << 10

// outbox holds what is to be sent until the connection takes it, so that whoever
// reads one never waits for whoever reads the other. What a channel may carry in
// all bounds it.
type outbox struct {
	mu     sync.Mutex
	wait   *sync.Cond
	bytes  []byte
	closed bool
	broken bool
	sent   chan struct{} // closed when drain has returned

	direct  io.Writer // written to at once, while room is left; nil where that could wait
	room    int
	writing bool // drain is
}

func newOutbox() *outbox {
	o := &outbox{sent: make(chan struct{})}
	o.wait = sync.NewCond(&o.mu)
	return o
}

// frame sends one, or data in several.
func (o *outbox) frame(kind byte, data []byte) {
	o.add(func(to []byte) []byte { return appendFrames(to, kind, data) })
}

// raw sends bytes as they are.
func (o *outbox) raw(data []byte) {
	o.add(func(to []byte) []byte { return append(to, data...) })
}

func (o *outbox) add(appendTo func([]byte) []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || o.broken {
		return
	}
	isFirst := len(o.bytes) == 0 && !o.writing
	o.bytes = appendTo(o.bytes)
	if !isFirst || o.direct == nil || len(o.bytes) > o.room {
		o.wait.Signal()
		return
	}
	o.room -= len(o.bytes)
	if _, err := o.direct.Write(o.bytes); err != nil {
		o.broken = true
		o.wait.Signal()
	}
	o.bytes = o.bytes[:0]
}

// close lets drain return once all is sent.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.wait.Broadcast()
}

// drain sends until the box is closed and empty, or the connection breaks.
func (o *outbox) drain(to net.Conn) {
	defer close(o.sent)
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, buffers := to.LocalAddr().(*net.TCPAddr); buffers { // a pipe of this process waits for its reader
		o.direct, o.room = to, atOnce
	}
	for {
		for len(o.bytes) == 0 && !o.closed && !o.broken {
			o.wait.Wait()
		}
		data := o.bytes
		if o.bytes = nil; len(data) == 0 || o.broken {
			return
		}
		o.writing = true
		o.mu.Unlock()
		_, err := to.Write(data)
		o.mu.Lock()
		o.writing = false
		if err != nil {
			o.broken, o.bytes = true, nil
			return
		}
	}
}
