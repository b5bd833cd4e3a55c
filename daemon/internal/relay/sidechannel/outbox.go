package sidechannel

import (
	"io"
	"sync"
)

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
}

func newOutbox() *outbox {
	o := &outbox{sent: make(chan struct{})}
	o.wait = sync.NewCond(&o.mu)
	return o
}

// frame sends one, or data in several.
func (o *outbox) frame(kind byte, data []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed && !o.broken {
		o.bytes = appendFrames(o.bytes, kind, data)
		o.wait.Signal()
	}
}

// raw sends bytes as they are.
func (o *outbox) raw(data []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed && !o.broken {
		o.bytes = append(o.bytes, data...)
		o.wait.Signal()
	}
}

// close lets drain return once all is sent.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.wait.Broadcast()
}

// drain sends until the box is closed and empty, or the connection breaks.
func (o *outbox) drain(to io.Writer) {
	defer close(o.sent)
	for {
		o.mu.Lock()
		for len(o.bytes) == 0 && !o.closed {
			o.wait.Wait()
		}
		data := o.bytes
		o.bytes = nil
		o.mu.Unlock()
		if len(data) == 0 {
			return
		}
		if _, err := to.Write(data); err != nil {
			o.mu.Lock()
			o.broken, o.bytes = true, nil
			o.mu.Unlock()
			return
		}
	}
}
