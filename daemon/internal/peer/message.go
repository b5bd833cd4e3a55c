package peer

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync"
	"time"

	"fulmen/daemon/api"
)

const (
	// MaxPiece is the most bytes of output or input in one message.
	MaxPiece = 64 << 10
	// BeatEvery is how long a side may be silent before it sends a Beat. A
	// connection whose cable was pulled says nothing for minutes, and a rank may
	// print nothing for hours; only this tells them apart.
	BeatEvery = 5 * time.Second
	// SilentFor is the silence after which the other side is taken for gone.
	SilentFor = 15 * time.Second
)

// Message is one of [Piece], [End], [Given], [Taken], [Beat] and [Refused].
type Message interface {
	kind() byte
	appendTo(b []byte) []byte
}

// Piece is a piece of what a rank printed.
type Piece struct {
	// Stream is where it was printed.
	Stream api.OutputStream
	// Offset is where the piece begins in the stream.
	Offset int64
	// Skipped is how many bytes just before it were not kept.
	Skipped int64
	// Data is at most MaxPiece bytes.
	Data []byte
}

// End says that no more output follows.
type End struct {
	// OutBytes and ErrBytes are where the two streams end.
	OutBytes, ErrBytes int64
	// Ended says that the rank has ended, so that there will never be more.
	Ended bool
}

// Given is a piece of a rank's input.
type Given struct {
	// Offset is where the piece begins in the rank's input.
	Offset int64
	// Data is at most MaxPiece bytes.
	Data []byte
	// End says that the input ends after it.
	End bool
}

// Taken says how far a rank's input has been handed to its program.
type Taken struct {
	// Bytes is the offset of the first byte that was not.
	Bytes int64
	// Ended says that the program was told the end, or is gone.
	Ended bool
}

// Beat says that the sender is there.
type Beat struct{}

// Refused says why nothing else comes.
type Refused struct {
	// Error is for the caller.
	Error *api.Error
}

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
