package proc

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"fulmen/daemon/api/worker"
)

// maxLogs bounds the remarks of one worker that are kept.
const maxLogs = 64

// listener reads a worker's messages and knows when the last one came.
type listener struct {
	boot func() time.Duration
	box  *mailbox
	// spoke is closed at the last word, or at something that is no message.
	spoke chan struct{}

	mu     sync.Mutex
	heard  time.Duration // when the last message came
	word   *worker.Message
	broken error
	doing  string
	logs   []worker.Log
}

func newListener(boot func() time.Duration) *listener {
	return &listener{boot: boot, box: newMailbox(), spoke: make(chan struct{}), heard: boot()}
}

// listen reads to the end of the stream. After the last word, or what is no
// message, the rest is thrown away, so that the worker can always write.
func (l *listener) listen(r io.Reader) {
	reader := worker.NewReader(r)
	for l.note(reader.Next()) {
	}
	_, _ = io.Copy(io.Discard, r)
}

// note takes one message and reports whether another may follow.
func (l *listener) note(m worker.Message, err error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = l.boot()
	switch {
	case errors.Is(err, worker.ErrNoLastWord), errors.Is(err, os.ErrClosed):
		return false // its end, or closed on this side: what became of the process says why
	case err != nil:
		l.broken = err
		close(l.spoke)
		return false
	case m.Type == worker.TypeProgress:
		p := *m.Progress
		p.Stage = clean(p.Stage, maxStage)
		l.doing = p.Stage
		l.box.put(p)
	case m.Type == worker.TypeLog:
		if len(l.logs) < maxLogs {
			l.logs = append(l.logs, worker.Log{Level: m.Log.Level, Text: clean(m.Log.Text, maxQuote)})
		}
	default:
		l.word = &m
		close(l.spoke)
		return false
	}
	return true
}

// quiet is how long nothing was heard.
func (l *listener) quiet() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.boot() - l.heard
}

// garbled reports whether the worker wrote something that is no message.
func (l *listener) garbled() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken != nil
}

// tell copies what was heard into the record.
func (l *listener) tell(r *Record) (broken error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.Word, r.Doing, r.Logs = l.word, l.doing, l.logs
	return l.broken
}
