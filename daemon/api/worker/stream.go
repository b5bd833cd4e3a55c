package worker

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// ErrNoLastWord is what [Reader.Next] returns where the stream ends before a
// result or an error: the worker crashed or was killed.
var ErrNoLastWord = errors.New("the worker ended without a result")

// Writer writes a worker's messages. It may be used by several goroutines,
// and writes nothing after the last word.
type Writer struct {
	mu   sync.Mutex
	w    io.Writer
	done bool
}

// NewWriter makes a writer onto w, to which each message is one Write.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write sends one message. After the last word it does nothing, so that a
// late progress message cannot follow a result.
func (w *Writer) Write(m Message) error {
	if err := m.check(); err != nil {
		return err
	}
	line, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("worker message: %w", err)
	}
	line = append(line, '\n')
	if len(line) > MaxMessageBytes {
		return fmt.Errorf("worker message of %d bytes is longer than %d", len(line), MaxMessageBytes)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return nil
	}
	w.done = m.Last()
	_, err = w.w.Write(line)
	return err
}

// Reader reads a worker's messages.
type Reader struct {
	lines *bufio.Scanner
	n     int
	last  bool
}

// NewReader makes a reader of the stream r.
func NewReader(r io.Reader) *Reader {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4096), MaxMessageBytes)
	return &Reader{lines: lines}
}

// Next gives the next message. After the last word it returns io.EOF; where
// the stream ends before one, [ErrNoLastWord]. Messages of unknown type are
// skipped.
func (r *Reader) Next() (Message, error) {
	for !r.last && r.lines.Scan() {
		r.n++
		line := bytes.TrimSpace(r.lines.Bytes())
		if len(line) == 0 {
			continue
		}
		m, err := parse(line)
		if err != nil {
			return Message{}, fmt.Errorf("line %d: %w", r.n, err)
		}
		switch m.Type {
		case TypeProgress, TypeLog, TypeResult, TypeError:
			r.last = m.Last()
			return m, nil
		}
	}
	if r.last {
		return Message{}, io.EOF
	}
	if err := r.lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return Message{}, fmt.Errorf("line %d: longer than %d bytes", r.n+1, MaxMessageBytes)
	} else if err != nil {
		return Message{}, err
	}
	return Message{}, ErrNoLastWord
}

// parse reads one line.
func parse(line []byte) (Message, error) {
	var m Message
	if err := json.Unmarshal(line, &m); err != nil {
		return Message{}, fmt.Errorf("no worker message: %w", err)
	}
	return m, m.check()
}
