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
	// progress is the latest, until its receiver takes it: its pace is not the worker's.
	progress chan worker.Progress
	// concluded is closed at the last word, or at something that is no message.
	concluded chan struct{}

	mu       sync.Mutex
	received time.Duration // when the last message came
	word     *worker.Message
	broken   error
	doing    string
	logs     []worker.Log
}

func newListener(boot func() time.Duration) *listener {
	return &listener{boot: boot, progress: make(chan worker.Progress, 1), concluded: make(chan struct{}), received: boot()}
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
	l.received = l.boot()
	switch {
	case errors.Is(err, worker.ErrNoLastWord), errors.Is(err, os.ErrClosed):
		return false // its end, or closed on this side: what became of the process says why
	case err != nil:
		l.broken = err
		close(l.concluded)
		return false
	case m.Type == worker.TypeProgress:
		p := *m.Progress
		p.Stage = clean(p.Stage, maxStage)
		l.doing = p.Stage
		select {
		case <-l.progress: // replaced
		default:
		}
		l.progress <- p
	case m.Type == worker.TypeLog:
		if len(l.logs) < maxLogs {
			l.logs = append(l.logs, worker.Log{Level: m.Log.Level, Text: clean(m.Log.Text, maxQuote)})
		}
	default:
		l.word = &m
		close(l.concluded)
		return false
	}
	return true
}

// deliver hands over the latest progress until done is closed, and once more then, so that
// the last one always arrives.
func (l *listener) deliver(to func(worker.Progress), done <-chan struct{}) {
	for {
		select {
		case p := <-l.progress:
			to(p)
		case <-done:
			select {
			case p := <-l.progress:
				to(p)
			default:
			}
			return
		}
	}
}

// quiet is how long nothing was heard.
func (l *listener) quiet() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.boot() - l.received
}

// garbled reports whether the worker wrote something that is no message.
func (l *listener) garbled() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken != nil
}

// notify copies what was heard into the record.
func (l *listener) notify(r *Record) (broken error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.Word, r.Doing, r.Logs = l.word, l.doing, l.logs
	return l.broken
}
