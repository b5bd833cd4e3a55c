package replica

import (
	"sync"
	"time"

	"fulmen/daemon/internal/peer/peertest"
)

// disk keeps what a node keeps over a restart.
type disk struct {
	peertest.Disk

	mu   sync.Mutex
	seen time.Time
}

func newDisk() *disk { return &disk{} }

// copied is the disk as it is now, for a node that is to be set back to it.
func (s *disk) copied() *disk {
	seen, _ := s.LoadLastSeen()
	c := &disk{seen: seen}
	c.Restore(&s.Disk)
	return c
}

func (s *disk) LoadLastSeen() (time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen, nil
}

func (s *disk) SaveLastSeen(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = t
	return nil
}
