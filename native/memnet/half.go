package memnet

import (
	"cmp"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// window is how much a sender may be ahead of its reader, in bytes.
const window = 256 << 10

// half is the bytes on their way in one direction.
type half struct {
	line *Line

	mu     sync.Mutex
	queue  []packet
	bytes  int
	last   time.Time // when the newest of the queue arrives
	ended  bool      // the sender has closed: end of file after the queue
	broken error
	wake   chan struct{} // closed when anything of this changes
	// Until when each end waits, and that it was closed.
	reader, writer limit
}

// limit is until when an end waits.
type limit struct {
	by     time.Time // zero: for ever
	closed bool
}

// wait is for how long there is something to wait for, negative for ever; else the
// error is why there is nothing.
func (l limit) wait() (time.Duration, error) {
	left := time.Until(l.by)
	switch {
	case l.closed:
		return 0, net.ErrClosed
	case l.by.IsZero():
		return -1, nil
	case left <= 0:
		return 0, os.ErrDeadlineExceeded
	}
	return left, nil
}

// packet is what one Write sent.
type packet struct {
	at   time.Time
	data []byte
}

func newHalf(line *Line) *half { return &half{line: line, wake: make(chan struct{})} }

// wakeAll lets waiting readers and writers look again. The caller does not hold mu.
func (h *half) wakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.changed()
}

// limit changes until when an end waits.
func (h *half) limit(which *limit, by time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	which.by = by
	h.changed()
	return nil
}

// close ends an end's waiting for good.
func (h *half) close(which *limit) {
	h.mu.Lock()
	defer h.mu.Unlock()
	which.closed = true
	h.changed()
}

// changed is wakeAll for who holds mu.
func (h *half) changed() {
	close(h.wake)
	h.wake = make(chan struct{})
}

func (h *half) read(p []byte) (int, error) {
	for {
		isCut, _ := h.line.state()
		h.mu.Lock()
		wait, err := h.reader.wait()
		switch {
		case err != nil || h.broken != nil:
			defer h.mu.Unlock()
			return 0, cmp.Or(err, h.broken)
		case isCut:
		case len(h.queue) == 0 && h.ended:
			h.mu.Unlock()
			return 0, io.EOF
		case len(h.queue) > 0:
			arrives := time.Until(h.queue[0].at)
			if arrives <= 0 {
				defer h.mu.Unlock()
				return h.take(p), nil
			}
			if wait < 0 || arrives < wait {
				wait = arrives
			}
		}
		wake := h.wake
		h.mu.Unlock()
		sleep(wait, wake)
	}
}

// take gives what has arrived.
func (h *half) take(p []byte) int {
	n := copy(p, h.queue[0].data)
	if h.queue[0].data = h.queue[0].data[n:]; len(h.queue[0].data) == 0 {
		h.queue = h.queue[1:]
	}
	h.bytes -= n
	h.changed()
	return n
}

func (h *half) write(p []byte) (int, error) {
	sent := 0
	for {
		h.mu.Lock()
		wait, err := h.writer.wait()
		switch {
		case err != nil || h.broken != nil:
			defer h.mu.Unlock()
			return sent, cmp.Or(err, h.broken)
		case h.ended:
			h.mu.Unlock()
			return sent, io.ErrClosedPipe
		}
		if room := window - h.bytes; room > 0 || len(p) == 0 {
			n := min(room, len(p)-sent)
			if n > 0 {
				h.put(p[sent : sent+n])
			}
			if sent += n; sent == len(p) {
				h.mu.Unlock()
				return sent, nil
			}
		}
		wake := h.wake
		h.mu.Unlock()
		sleep(wait, wake)
	}
}

func (h *half) put(p []byte) {
	at := time.Now().Add(h.line.latency())
	if at.Before(h.last) {
		at = h.last // in order
	}
	h.last = at
	h.queue = append(h.queue, packet{at: at, data: append([]byte(nil), p...)})
	h.bytes += len(p)
	h.changed()
}

// end ends what the sender writes.
func (h *half) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	h.changed()
}

// breakWith ends it for reader and writer.
func (h *half) breakWith(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.broken == nil {
		h.broken = err
	}
	h.changed()
}

// sleep waits for a while (for ever where it is negative) or for a channel.
func sleep(wait time.Duration, wake <-chan struct{}) {
	var due <-chan time.Time
	if wait >= 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-wake:
	case <-due:
	}
}
