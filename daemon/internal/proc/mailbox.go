package proc

import (
	"sync"

	"fulmen/daemon/api/worker"
	"fulmen/native/waker"
)

// mailbox holds the latest progress until its receiver takes it, so that the
// receiver's pace is not the sender's.
type mailbox struct {
	mu     sync.Mutex
	latest *worker.Progress
	full   waker.Waker
}

func newMailbox() *mailbox { return &mailbox{full: waker.New()} }

// put replaces what was not taken yet.
func (m *mailbox) put(p worker.Progress) {
	m.mu.Lock()
	m.latest = &p
	m.mu.Unlock()
	m.full.Wake()
}

// deliver hands over the latest progress until done is closed, and once more
// then, so that the last one always arrives.
func (m *mailbox) deliver(to func(worker.Progress), done <-chan struct{}) {
	for {
		select {
		case <-m.full:
			m.hand(to)
		case <-done:
			m.hand(to)
			return
		}
	}
}

func (m *mailbox) hand(to func(worker.Progress)) {
	m.mu.Lock()
	latest := m.latest
	m.latest = nil
	m.mu.Unlock()
	if latest != nil {
		to(*latest)
	}
}
