package replica

import (
	"encoding/json"
	"maps"
	"sync"
	"time"

	"fulmen/daemon/api"
)

// disk keeps what a node keeps over a restart.
type disk struct {
	mu      sync.Mutex
	docs    map[api.Key][]byte
	version api.Version
	seen    time.Time
}

func newDisk() *disk { return &disk{docs: map[api.Key][]byte{}} }

// copied is the disk as it is now, for a node that is to be set back to it.
func (s *disk) copied() *disk {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &disk{docs: maps.Clone(s.docs), version: s.version, seen: s.seen}
}

func (s *disk) Load() ([]api.Document, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []api.Document
	for _, raw := range s.docs {
		var d api.Document
		if err := json.Unmarshal(raw, &d); err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

func (s *disk) Save(put []api.Document, forget []api.Key) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range put {
		raw, err := json.Marshal(d)
		if err != nil {
			return err
		}
		s.docs[d.Key()] = raw
	}
	for _, k := range forget {
		delete(s.docs, k)
	}
	return nil
}

func (s *disk) LoadVersion() (api.Version, error) { return s.version, nil }

func (s *disk) SaveVersion(v api.Version) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = v
	return nil
}

func (s *disk) LoadLastSeen() (time.Time, error) { return s.seen, nil }

func (s *disk) SaveLastSeen(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = t
	return nil
}
