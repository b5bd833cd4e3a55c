package desk

import (
	"bytes"
	"strings"
	"sync"
)

// kept is how much of what a process said is kept: the end of it.
const kept = 32 << 10

// Said keeps the end of what a process says, and tells when it says a word. The
// zero value is ready; it is a process's standard output and error.
type Said struct {
	mu   sync.Mutex
	text []byte
	word string
	told chan struct{}
}

// Write takes what a process says; it never fails.
func (s *Said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, p...)
	if s.told != nil && bytes.Contains(s.text, []byte(s.word)) {
		close(s.told)
		s.told = nil
	}
	if extra := len(s.text) - kept; extra > 0 {
		s.text = bytes.Clone(s.text[extra:])
	}
	return len(p), nil
}

// Await gives a channel that is closed when the process says a word. What was
// said before is forgotten.
func (s *Said) Await(word string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text, s.word, s.told = nil, word, make(chan struct{})
	return s.told
}

// End is what was said last.
func (s *Said) End() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimSpace(string(s.text))
}
