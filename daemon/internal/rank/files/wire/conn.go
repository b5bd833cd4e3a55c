package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"fulmen/daemon/api"
)

// Conn reads and writes frames, each by one goroutine at a time.
type Conn struct {
	r   *bufio.Reader
	w   *bufio.Writer
	buf []byte
}

// NewConn makes a connection of two streams.
func NewConn(r io.Reader, w io.Writer) *Conn {
	return &Conn{r: bufio.NewReaderSize(r, MaxFrameBytes+headBytes), w: bufio.NewWriterSize(w, MaxFrameBytes+headBytes)}
}

// Read reads the next frame. The bytes hold until the next call. A stream that
// ends between frames gives io.EOF; one that breaks a rule an error that matches
// [ErrProtocol].
func (c *Conn) Read() (Kind, []byte, error) {
	var head [headBytes]byte
	if _, err := io.ReadFull(c.r, head[:]); err != nil {
		return 0, nil, err
	}
	kind, length := Kind(head[0]), binary.BigEndian.Uint32(head[1:])
	if limit := kind.limit(); limit < 0 || int64(length) > int64(limit) {
		return 0, nil, fmt.Errorf("%w: a frame of kind %q with %d bytes", ErrProtocol, head[0], length)
	}
	if cap(c.buf) < int(length) {
		c.buf = make([]byte, max(int(length), 4<<10))
	}
	data := c.buf[:length]
	if _, err := io.ReadFull(c.r, data); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err
	}
	return kind, data, nil
}

// Expect reads a frame of the kind, or fails with what the other side said instead.
func (c *Conn) Expect(kind Kind) ([]byte, error) {
	got, data, err := c.Read()
	switch {
	case err != nil:
		return nil, err
	case got == kind:
		return data, nil
	}
	return nil, Unexpected(got, data)
}

// Unexpected is the error of a frame that should not come now: a refusal's own.
func Unexpected(kind Kind, data []byte) error {
	if kind != Refused {
		return fmt.Errorf("%w: a frame of kind %q out of turn", ErrProtocol, byte(kind))
	}
	refusal, err := DecodeRefusal(data)
	if err != nil {
		return err
	}
	return refusal
}

// Write writes a frame, which leaves with the next Flush at the latest.
func (c *Conn) Write(kind Kind, data []byte) error {
	if len(data) > kind.limit() {
		return fmt.Errorf("%w: %d bytes are too many for a frame of kind %q", ErrProtocol, len(data), byte(kind))
	}
	var head [headBytes]byte
	head[0] = byte(kind)
	binary.BigEndian.PutUint32(head[1:], uint32(len(data)))
	if _, err := c.w.Write(head[:]); err != nil {
		return err
	}
	_, err := c.w.Write(data)
	return err
}

// Say writes a value as JSON; nil as nothing.
func (c *Conn) Say(kind Kind, value any) error {
	if value == nil {
		return c.Write(kind, nil)
	}
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return c.Write(kind, data)
}

// Flush sends what was written.
func (c *Conn) Flush() error { return c.w.Flush() }

// Refuse says why there is no more. What goes wrong with that is not told: the
// connection has had its day.
func (c *Conn) Refuse(why *api.Error) {
	if c.Say(Refused, bounded(why)) == nil {
		_ = c.Flush()
	}
}

// strict decodes JSON that may hold nothing unknown and nothing behind it.
func strict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: more than one value in a frame", ErrProtocol)
	}
	return nil
}

// ErrProtocol is what an end says that does not keep to the protocol.
var ErrProtocol = errors.New("the other side does not keep to the protocol of copied folders")
