package shim

import (
	"errors"
	"os"
	"sync"
	"syscall"

	"fulmen/daemon/internal/rank/shimproto"
)

// logBlock is what sizes in a log are rounded to: file systems free whole
// blocks, 64 KiB being a multiple of the block of every one in use.
const logBlock = 64 << 10

// punchStep is how much is freed at once: often enough that a log exceeds its
// cap by a mebibyte at most, seldom enough to cost nothing.
const punchStep = 1 << 20

// logFile keeps the head and the tail of a stream in one file. Bytes stay at
// the place in the file at which they came; what lies between head and tail is
// given back to the file system as a hole. So the file's size says how much
// came, a reader's offset stays true while it follows, and a crash at any moment
// leaves a file that reads the same way.
type logFile struct {
	stream, path, name string
	head, tail         int64
	punch              func(f *os.File, from, to int64) error

	mu      sync.Mutex
	file    *os.File // nil until something came and it could be created
	size    int64    // of the file
	freed   int64    // end of the hole; head when there is none
	written int64    // by the program
	problem string
	full    bool // the middle cannot be freed: nothing is added any more
}

func newLogFile(stream, path, name string, head, tail int64) *logFile {
	head = (head + logBlock - 1) / logBlock * logBlock
	return &logFile{stream: stream, path: path, name: name, head: head, tail: max(tail, logBlock), freed: head, punch: punchHole}
}

// create makes the file when there is something to keep: a file that nothing comes
// into would be a good part of what it costs to start a program.
func (l *logFile) create() bool {
	if l.file != nil {
		return true
	}
	file, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		l.lost(err)
		return false
	}
	l.file = file
	return true
}

// Write takes everything and never fails: what the disk does not take is
// dropped and counted.
func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.written += int64(len(p))
	if len(p) == 0 || l.full || !l.create() {
		return len(p), nil
	}
	n, err := l.file.WriteAt(p, l.size)
	l.size += int64(n)
	if err != nil {
		l.lost(err)
	}
	if end := (l.size - l.tail) / logBlock * logBlock; end-l.freed >= punchStep {
		if err := l.punch(l.file, l.head, end); err != nil {
			l.full = true
			l.lost(err)
		} else {
			l.freed = end
		}
	}
	return len(p), nil
}

// lost notes the first cause, in the system's words.
func (l *logFile) lost(err error) {
	if l.problem != "" {
		return
	}
	l.problem = err.Error()
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		l.problem = errno.Error()
	}
}

// state is what became of the stream so far.
func (l *logFile) state() shimproto.LogEnd {
	l.mu.Lock()
	defer l.mu.Unlock()
	return shimproto.LogEnd{
		Stream: l.stream, File: l.name, WrittenBytes: l.written, KeptBytes: l.size - (l.freed - l.head), Problem: l.problem,
	}
}

// makeRoom frees the tail, so that the record of the end has a place on a full disk.
func (l *logFile) makeRoom() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > l.head && os.Truncate(l.path, l.head) == nil {
		l.size, l.freed = l.head, l.head
	}
}

func (l *logFile) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		_ = l.file.Close()
	}
}
