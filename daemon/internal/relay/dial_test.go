package relay_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

var (
	ada = api.Principal{User: "ada", Node: laptop}
	bob = api.Principal{User: "bob", Node: laptop}
)

// What goes over a connection of Dial comes as it was sent, to its end; one that breaks is not
// one that ended.
func TestDial(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPair(t)
	p.start(t, false)
	conn, err := p.laptop.Dial(t.Context(), ada, rank0, studio, p.port)
	is.NoErr(err)
	defer conn.Close()
	program, err := p.program.Accept()
	is.NoErr(err)
	sent := make([]byte, 3<<20)
	_, _ = rand.Read(sent)
	for _, way := range []struct {
		from io.Writer
		to   io.Reader
	}{{conn, program}, {program, conn}} {
		go func() { _, _ = way.from.Write(sent) }()
		received := make([]byte, len(sent))
		_, err = io.ReadFull(way.to, received)
		is.NoErr(err)
		is.True(bytes.Equal(received, sent))
	}

	quiet, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	p.studio.Quiet(quiet, rank0)
	is.True(quiet.Err() != nil) // it is in use
	is.NoErr(program.Close())
	_, err = conn.Read(make([]byte, 1))
	is.Equal(err, io.EOF)
	conn.Close()
	p.studio.Quiet(t.Context(), rank0)

	conn, err = p.laptop.Dial(t.Context(), ada, rank0, studio, p.port)
	is.NoErr(err)
	program, err = p.program.Accept()
	is.NoErr(err)
	defer program.Close()
	p.studio.Ended(api.Rank{Job: job, Attempt: 1})
	_, err = conn.Read(make([]byte, 1))
	is.Equal(err, io.ErrUnexpectedEOF)
	_, err = p.laptop.Dial(t.Context(), bob, rank0, studio, p.port) // whom no map leads to the account
	is.True(errors.Is(err, api.ReasonPeerNotAllowed))
}
