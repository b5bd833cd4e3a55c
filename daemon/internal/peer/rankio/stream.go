package rankio

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync"
)

// Writer sends messages; it may be used by several goroutines.
type Writer struct {
	mu     sync.Mutex
	to     io.Writer
	buffer []byte
}

// NewWriter makes a writer onto a connection.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Send writes one message, in one write. Data longer than MaxPiece is a mistake
// of the caller.
func (w *Writer) Send(m Message) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buffer = encode(w.buffer, m)
	_, err := w.to.Write(w.buffer)
	return err
}

// Reader receives messages; it is for one goroutine.
type Reader struct {
	from io.Reader
	head [headBytes]byte
	body []byte
}

// NewReader makes a reader of a connection.
func NewReader(from io.Reader) *Reader { return &Reader{from: from} }

// Next waits for a message. The data in it is valid until the next call. The
// error is io.EOF where the stream ended between two messages, and
// io.ErrUnexpectedEOF inside one.
func (r *Reader) Next() (Message, error) {
	for {
		if _, err := io.ReadFull(r.from, r.head[:]); err != nil {
			return nil, err
		}
		length := int(binary.BigEndian.Uint32(r.head[1:]))
		if length > maxBody {
			return nil, fmt.Errorf("a message of kind %q claims %d bytes, where %d are allowed", r.head[0], length, maxBody)
		}
		if length > cap(r.body) {
			r.body = make([]byte, length, min(maxBody, max(2*length, 4096)))
		}
		r.body = r.body[:length]
		if _, err := io.ReadFull(r.from, r.body); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if m, err := decode(r.head[0], r.body); m != nil || err != nil {
			return m, err
		}
	}
}
