package testcluster

import (
	"bytes"
	"strings"
	"sync"
)

// kept is how much of what a process said is kept: the end of it.
const kept = 32 << 10

// Output keeps the end of what a process says, and tells when it says a word. The
// zero value is ready; it is a process's standard output and error.
type Output struct {
	mu       sync.Mutex
	text     []byte
	word     string
	reported chan struct{}
}

// Write takes what a process says; it never fails.
func (s *Output) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, p...)
	if s.reported != nil && bytes.Contains(s.text, []byte(s.word)) {
		close(s.reported)
		s.reported = nil
	}
	if extra := len(s.text) - kept; extra > 0 {
		s.text = bytes.Clone(s.text[extra:])
	}
	return len(p), nil
}

// Await gives a channel that is closed when the process says a word. What was
// said before is forgotten.
func (s *Output) Await(word string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text, s.word, s.reported = nil, word, make(chan struct{})
	return s.reported
}

// End is what was said last.
func (s *Output) End() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimSpace(string(s.text))
}
