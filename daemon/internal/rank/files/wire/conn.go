package wire

import (
	"bufio"
	"bytes"
	"cmp"
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
	err error // the first of what was written
}

// bufferBytes is for small frames: most of a large one goes past the buffer, uncopied.
const bufferBytes = 16 << 10

// NewConn makes a connection of two streams.
func NewConn(r io.Reader, w io.Writer) *Conn {
	return &Conn{r: bufio.NewReaderSize(r, bufferBytes), w: bufio.NewWriterSize(w, bufferBytes)}
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

// Write writes a frame, which leaves with the next Flush at the latest. An error is what
// all that follow give too, and Flush.
func (c *Conn) Write(kind Kind, data []byte) error {
	if len(data) > kind.limit() && c.err == nil {
		c.err = fmt.Errorf("%w: %d bytes are too many for a frame of kind %q", ErrProtocol, len(data), byte(kind))
	}
	if c.err == nil {
		head := binary.BigEndian.AppendUint32([]byte{byte(kind)}, uint32(len(data)))
		_, err := c.w.Write(head)
		_, again := c.w.Write(data)
		c.err = cmp.Or(err, again)
	}
	return c.err
}

// Send writes a value as JSON; nil as nothing.
func (c *Conn) Send(kind Kind, value any) error {
	if value == nil {
		return c.Write(kind, nil)
	}
	data, err := json.Marshal(value)
	if err != nil {
		c.err = cmp.Or(c.err, err)
	}
	return c.Write(kind, data)
}

// Flush sends what was written.
func (c *Conn) Flush() error { return cmp.Or(c.err, c.w.Flush()) }

// Refuse says why there is no more. What goes wrong with that is not told: the
// connection has had its day.
func (c *Conn) Refuse(why *api.Error) {
	c.err = nil
	_ = c.Send(Refused, bounded(why))
	_ = c.Flush()
}

// Expect reads a frame of the kind that holds a value.
func Expect[T limited](c *Conn, kind Kind) (value T, err error) {
	data, err := c.Expect(kind)
	if err != nil {
		return value, err
	}
	return Decode[T](data)
}

// limited is a value that knows whether it is in its range.
type limited interface{ Valid() bool }

// Decode reads a value of JSON that is in its range.
func Decode[T limited](data []byte) (value T, err error) {
	if err = Strict(data, &value); err == nil && !value.Valid() {
		err = fmt.Errorf("%w: a %T", ErrProtocol, value)
	}
	if err != nil {
		value = *new(T)
	}
	return value, err
}

// Strict decodes JSON that may hold nothing unknown and nothing behind it.
func Strict(data []byte, into any) error {
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
