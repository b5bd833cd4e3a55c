package peertest

import (
	"encoding/json"
	"maps"
	"sync"

	"fulmen/daemon/api"
)

// Disk keeps documents and versions in memory, as JSON, as a database would: it
// is a ledger's Store and Counter. The zero value is an empty one.
type Disk struct {
	mu      sync.Mutex
	docs    map[api.Key][]byte
	version api.Version
}

// Len is how many documents are kept.
func (s *Disk) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.docs)
}

// Restore makes it what another one is now, as a backup does.
func (s *Disk) Restore(from *Disk) {
	from.mu.Lock()
	docs, version := maps.Clone(from.docs), from.version
	from.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.docs, s.version = docs, version
}

// Load implements ledger.Store.
func (s *Disk) Load() ([]api.Document, error) {
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

// Save implements ledger.Store.
func (s *Disk) Save(put []api.Document, forget []api.Key) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.docs == nil {
		s.docs = map[api.Key][]byte{}
	}
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

// LoadVersion implements ledger.Counter.
func (s *Disk) LoadVersion() (api.Version, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version, nil
}

// SaveVersion implements ledger.Counter.
func (s *Disk) SaveVersion(v api.Version) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = v
	return nil
}
