package node

import (
	"encoding/json"
	"maps"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/cluster/discover"
)

// disk is what a daemon keeps over a restart, in memory and as JSON.
type disk struct {
	mu       sync.Mutex
	docs     map[api.Key][]byte
	version  api.Version
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

func newDisk() *disk { return &disk{docs: map[api.Key][]byte{}} }

// copied is the disk as it is now, for a Mac that is set back to it.
func (s *disk) copied() *disk {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &disk{docs: maps.Clone(s.docs), version: s.version, seen: s.seen, roster: s.roster, met: s.met, networks: s.networks}
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

func (s *disk) LoadVersion() (api.Version, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version, nil
}

func (s *disk) SaveVersion(v api.Version) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = v
	return nil
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
