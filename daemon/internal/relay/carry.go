package relay

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// Connections between nodes cannot be closed in one direction alone, so what goes
// over them is framed: a length of four bytes, big-endian, and that many bytes; a
// length of 0 says that this direction is over.
const (
	headBytes = 4
	maxFrame  = 64 << 10
)

// errProtocol is a frame that no relay writes.
var errProtocol = errors.New("the other node sent a frame that is too long")

// carry joins a framed connection and a plain one until both directions are over
// or one breaks; then both are closed. A break is passed on as one: the plain side
// is reset rather than ended in good order. First was read from the plain one before.
func carry(framed net.Conn, plain net.Conn, first []byte) {
	end := func(err error) {
		if err != nil {
			reset(plain)
			framed.Close()
		}
	}
	var both sync.WaitGroup
	both.Go(func() { end(enframe(framed, io.MultiReader(bytes.NewReader(first), plain))) })
	both.Go(func() { end(deframe(plain, framed)) })
	both.Wait()
	plain.Close()
	framed.Close()
}

// enframe sends what a plain connection says, and its end.
func enframe(framed io.Writer, plain io.Reader) error {
	buffer := make([]byte, headBytes+maxFrame)
	for {
		n, err := plain.Read(buffer[headBytes:])
		if n > 0 {
			binary.BigEndian.PutUint32(buffer, uint32(n))
			if _, err := framed.Write(buffer[:headBytes+n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			_, err := framed.Write(make([]byte, headBytes))
			return err
		}
		if err != nil {
			return err
		}
	}
}

// deframe passes on what comes in frames, and its end.
func deframe(plain net.Conn, framed io.Reader) error {
	buffer := make([]byte, maxFrame)
	for {
		if _, err := io.ReadFull(framed, buffer[:headBytes]); err != nil {
			return err
		}
		n := binary.BigEndian.Uint32(buffer)
		switch {
		case n == 0:
			if half, ok := plain.(interface{ CloseWrite() error }); ok {
				return half.CloseWrite()
			}
			return fmt.Errorf("%T cannot end one direction", plain)
		case n > maxFrame:
			return errProtocol
		}
		if _, err := io.ReadFull(framed, buffer[:n]); err != nil {
			return err
		}
		if _, err := plain.Write(buffer[:n]); err != nil {
			return err
		}
	}
}

// The first byte that rank 0's node says.
const (
	statusOpen    = 'o' // the program took the connection
	statusRefused = 'r' // it did not
	statusDenied  = 'd' // the port is none of the caller's
	statusFull    = 'f' // there are too many
)
