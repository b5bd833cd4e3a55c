package testkit

import (
	"strings"
	"sync"
)

// Log is what was written, also while a test reads it: by goroutines of a process, or by
// what goes on after its test. The zero Log is empty.
type Log struct {
	mu  sync.Mutex
	all strings.Builder
}

// Write implements io.Writer.
func (l *Log) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(text)
}

// String is all of it so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}
