package transport

import (
	"bytes"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native/frame"
)

// written is a connection that notes what is written to it, and by when.
type written struct {
	net.Conn
	sizes    []int
	all      bytes.Buffer
	deadline time.Time
	fails    error
}

func (w *written) SetWriteDeadline(at time.Time) error {
	w.deadline = at
	return nil
}

func (w *written) Write(p []byte) (int, error) {
	if w.deadline.IsZero() || w.fails != nil {
		return 0, errors.Join(w.fails, errors.New("nothing bounds the write"))
	}
	w.sizes = append(w.sizes, len(p))
	return w.all.Write(p)
}

// A small frame is one write, a large one comes in pieces, and no deadline stays
// behind to wake the process.
func TestWriteWithin(t *testing.T) {
	for name, c := range map[string]struct {
		bytes int
		sizes []int
	}{
		"nothing": {0, []int{4}},
		"small":   {pieceBytes - 4, []int{pieceBytes}},
		"large":   {2*pieceBytes + 1, []int{pieceBytes, pieceBytes, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			message := bytes.Repeat([]byte("m"), c.bytes)
			var w written
			is.NoErr(writeWithin(&w, message))
			is.Equal(w.sizes, c.sizes)
			is.True(w.deadline.IsZero())
			got, err := frame.Read(&w.all, c.bytes)
			is.NoErr(err)
			is.True(bytes.Equal(got, message))
		})
	}
	is := is.New(t)
	broken := errors.New("broken")
	is.True(errors.Is(writeWithin(&written{fails: broken}, nil), broken))
}
