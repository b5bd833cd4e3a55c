package node

import (
	"encoding/json"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/cluster/discover"
	"fulmen/daemon/internal/peer/peertest"
)

// disk is what a daemon keeps over a restart, in memory and as JSON.
type disk struct {
	peertest.Disk
	mu       sync.Mutex
	seen     time.Time
	roster   json.RawMessage
	met      []byte
	networks []byte
}

var (
	_ AddressStore        = (*disk)(nil)
	_ discover.Store      = (*disk)(nil)
	_ cluster.RosterStore = (*disk)(nil)
)

func newDisk() *disk { return &disk{} }

// copied is the disk as it is now, for a Mac that is set back to it.
func (s *disk) copied() *disk {
	s.mu.Lock()
	defer s.mu.Unlock()
	copied := &disk{seen: s.seen, roster: s.roster, met: s.met, networks: s.networks}
	copied.Restore(&s.Disk)
	return copied
}

// raw is all that is on the disk but documents, one after the other.
func (s *disk) raw() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.roster) + string(s.met) + string(s.networks)
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

func (s *disk) LoadRoster() (json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.roster, nil
}

func (s *disk) SaveRoster(_ api.ClusterID, raw json.RawMessage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.roster = raw
	return nil
}

func (s *disk) LoadMet() (met Met, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.met != nil {
		err = json.Unmarshal(s.met, &met)
	}
	return met, err
}

func (s *disk) SaveMet(met Met) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.met, err = json.Marshal(met)
	return err
}

func (s *disk) LoadDiscovery() (r discover.Remembered, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.networks != nil {
		err = json.Unmarshal(s.networks, &r)
	}
	return r, err
}

func (s *disk) SaveDiscovery(r discover.Remembered) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.networks, err = json.Marshal(r)
	return err
}
