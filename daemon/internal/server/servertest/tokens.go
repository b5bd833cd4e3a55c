package servertest

import (
	"maps"
	"slices"
	"sync"

	"fulmen/daemon/internal/server/token"
)

// Tokens is a token.Store in memory.
type Tokens struct {
	mu      sync.Mutex
	records map[string]token.Record
}

// LoadTokens implements token.Store.
func (s *Tokens) LoadTokens() ([]token.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.records)), nil
}

// SaveToken implements token.Store.
func (s *Tokens) SaveToken(r token.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.records == nil {
		s.records = map[string]token.Record{}
	}
	s.records[r.SHA256] = r
	return nil
}

// DeleteToken implements token.Store.
func (s *Tokens) DeleteToken(sha256 string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.records, sha256)
	return nil
}
