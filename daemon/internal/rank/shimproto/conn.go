package shimproto

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// Conn is one side of a connection between daemon and shim: it sends S and
// receives R. One goroutine may receive while others send.
type Conn[S, R message] struct {
	conn   net.Conn
	lines  *bufio.Reader
	decode func([]byte) (R, error)

	sending sync.Mutex
}

// DaemonConn is the daemon's side.
type DaemonConn = Conn[Request, Reply]

// ShimConn is the shim's side.
type ShimConn = Conn[Reply, Request]

// NewDaemonConn makes the daemon's side of a stream.
func NewDaemonConn(conn net.Conn) *DaemonConn {
	return newConn[Request](conn, DecodeReply)
}

// NewShimConn makes the shim's side of a stream.
func NewShimConn(conn net.Conn) *ShimConn {
	return newConn[Reply](conn, DecodeRequest)
}

func newConn[S, R message](conn net.Conn, decode func([]byte) (R, error)) *Conn[S, R] {
	// A full buffer without an end is a line too long.
	return &Conn[S, R]{conn: conn, lines: bufio.NewReaderSize(conn, MaxLine+1), decode: decode}
}

// ReadError is a line that arrived whole and could not be understood. The
// connection can go on: a shim answers with a refusal.
type ReadError struct {
	Line []byte
	Err  error // [FieldError] or [UnknownTypeError]
}

// Error is the text of Err.
func (e *ReadError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ReadError) Unwrap() error { return e.Err }

// Send writes one message within the time given. After an error the stream may
// hold a part of a line, so the connection is closed. The time is the message's
// alone: whatever else is written to the connection later, such as a rank's input,
// may take as long as it takes.
//
// The time runs on the system's socket clock, which may stop in sleep; it is
// there to detect a reader that does not read, and no lease depends on it.
func (c *Conn[S, R]) Send(m S, within time.Duration) error {
	line, err := Encode(m)
	if err != nil {
		return err
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	if err := c.conn.SetWriteDeadline(time.Now().Add(within)); err != nil {
		return err
	}
	if _, err := c.conn.Write(append(line, '\n')); err != nil {
		return errors.Join(fmt.Errorf("send: %w", err), c.conn.Close())
	}
	_ = c.conn.SetWriteDeadline(time.Time{}) // fails only where the connection was closed meanwhile
	return nil
}

// Receive reads the next message within the time given; 0 waits until the
// connection ends or Close is called, for a side on which silence is normal.
// It returns io.EOF when the other side closed between two messages,
// io.ErrUnexpectedEOF when it did so inside one, a [ReadError] for a line that
// makes no sense, and [ErrTooLong] for one that is too long, after which the
// connection is closed. When the time is over the error is os.ErrDeadlineExceeded, and
// of a message that was under way nothing can be received any more.
func (c *Conn[S, R]) Receive(within time.Duration) (R, error) {
	var none R
	var deadline time.Time
	if within > 0 {
		deadline = time.Now().Add(within)
	}
	if err := c.conn.SetReadDeadline(deadline); err != nil {
		return none, err
	}
	line, err := c.readLine()
	if err != nil {
		return none, err
	}
	m, err := c.decode(line)
	if errors.Is(err, ErrTooLong) {
		return none, errors.Join(err, c.conn.Close())
	}
	if err != nil {
		return none, &ReadError{Line: bytes.Clone(line), Err: err}
	}
	return m, nil
}

// readLine returns the next line without its end, valid until the next call.
func (c *Conn[S, R]) readLine() ([]byte, error) {
	line, err := c.lines.ReadSlice('\n')
	switch {
	case err == nil:
		return line[:len(line)-1], nil
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, errors.Join(ErrTooLong, c.conn.Close())
	case errors.Is(err, io.EOF) && len(line) > 0:
		return nil, io.ErrUnexpectedEOF
	}
	return nil, err
}

// Close ends the connection and whoever waits on it.
func (c *Conn[S, R]) Close() error { return c.conn.Close() }

// The versions of this protocol that this program speaks. A daemon is upgraded
// while shims of the previous version run, so there is always one before.
const (
	Version       = 1 // 2026-11-21: first
	OldestVersion = 1
)

// Versions is the range that one side speaks.
type Versions struct {
	Newest int `json:"version"`
	Oldest int `json:"oldest_version"`
}

// OwnVersions is what this program speaks.
func OwnVersions() Versions { return Versions{Newest: Version, Oldest: OldestVersion} }

// Check returns a [FieldError] for a range that is none.
func (v Versions) Check() error {
	if v.Newest < 1 {
		return badField("version", "%d is less than 1", v.Newest)
	}
	if v.Oldest < 1 || v.Oldest > v.Newest {
		return badField("oldest_version", "%d is outside 1 to %d", v.Oldest, v.Newest)
	}
	return nil
}

// Negotiate returns the newest version that both sides speak, or an error that
// matches [ErrVersion] and says which side is older.
func (v Versions) Negotiate(other Versions) (int, error) {
	common := min(v.Newest, other.Newest)
	if common >= v.Oldest && common >= other.Oldest {
		return common, nil
	}
	return 0, fmt.Errorf("%w: here %d to %d, there %d to %d", ErrVersion, v.Oldest, v.Newest, other.Oldest, other.Newest)
}
