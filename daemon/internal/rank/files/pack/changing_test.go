package pack_test

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/files/pack"
	"fulmen/daemon/internal/rank/files/wire"
	"fulmen/native"
)

// receiver hears a sender of a folder up to where files come; done gives what the
// sender ended with.
func receiver(t *testing.T, folder string) (c *wire.Conn, list *wire.List, done <-chan error) {
	t.Helper()
	clock, err := native.SystemClock()
	if err != nil {
		t.Fatal(err)
	}
	near, far := net.Pipe()
	t.Cleanup(func() { near.Close() })
	ended := make(chan error, 1)
	go func() {
		err := pack.Run(far, far, clock)
		far.Close()
		ended <- err
	}()
	c = wire.NewConn(near, near)
	list = &wire.List{}
	if err := errors.Join(c.Send(wire.Task, wire.PackTask{Folder: folder}), c.Flush()); err != nil {
		t.Fatal(err)
	}
	for {
		kind, data, err := c.Read()
		if err != nil {
			t.Fatal(err)
		}
		if kind == wire.Listed {
			return c, list, ended
		}
		if err := list.Decode(data); err != nil {
			t.Fatal(err)
		}
	}
}

func want(t *testing.T, c *wire.Conn, indices ...int) {
	t.Helper()
	err := errors.Join(c.Send(wire.Hashed, nil), c.Flush())
	if _, answer := c.Expect(wire.Hashed); answer != nil {
		t.Fatal(answer)
	}
	err = errors.Join(err, c.Send(wire.Want, indices), c.Send(wire.Wanted, nil), c.Flush())
	if err != nil {
		t.Fatal(err)
	}
}

// file hears one file; after its first data it calls between.
func file(t *testing.T, c *wire.Conn, between func()) (text string, again bool) {
	t.Helper()
	if _, err := c.Expect(wire.File); err != nil {
		t.Fatal(err)
	}
	for {
		kind, data, err := c.Read()
		switch {
		case err != nil:
			t.Fatal(err)
		case kind == wire.End:
			end, err := wire.Decode[wire.Ending](data)
			if err != nil {
				t.Fatal(err)
			}
			return text, end.Again
		}
		if text == "" {
			between()
		}
		text += string(data)
	}
}

func TestAFileThatChangesIsReadAgain(t *testing.T) {
	is := is.New(t)
	folder := t.TempDir()
	name := filepath.Join(folder, "log")
	large := strings.Repeat("x", 4<<20) // more than can be on its way
	is.NoErr(os.WriteFile(name, []byte(large), 0o644))
	add := func() {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
		is.NoErr(err)
		_, err = f.WriteString("more")
		is.NoErr(err)
		is.NoErr(f.Close())
	}

	c, list, done := receiver(t, folder)
	is.Equal(len(list.Entries()), 1)
	want(t, c, 0)
	_, again := file(t, c, add)
	is.True(again)
	text, again := file(t, c, func() {})
	is.True(!again)
	is.Equal(text, large+"more")
	_, err := c.Expect(wire.Sent)
	is.NoErr(err)
	is.NoErr(errors.Join(c.Send(wire.Thanks, nil), c.Flush()))
	is.NoErr(<-done)

	// One that never rests is named.
	c, _, done = receiver(t, folder)
	want(t, c, 0)
	for range 3 {
		_, again = file(t, c, add)
		is.True(again)
	}
	_, err = c.Expect(wire.File)
	is.True(errors.Is(err, api.ReasonSyncFailed))
	is.True(strings.Contains(err.Error(), "log changes while it is copied"))
	is.True(<-done != nil)
}

func TestAFileThatGoesIsNamed(t *testing.T) {
	is := is.New(t)
	folder := t.TempDir()
	is.NoErr(os.WriteFile(filepath.Join(folder, "a"), []byte("x"), 0o644))
	c, _, _ := receiver(t, folder)
	is.NoErr(os.Remove(filepath.Join(folder, "a")))
	is.NoErr(os.Symlink("/etc/passwd", filepath.Join(folder, "a"))) // nor is what took its place sent
	want(t, c, 0)
	_, err := c.Expect(wire.File)
	is.True(errors.Is(err, api.ReasonSyncFailed))
	is.True(strings.HasPrefix(err.Error(), "a:"))
}

func TestAReceiverThatLeavesEndsIt(t *testing.T) {
	is := is.New(t)
	folder := t.TempDir()
	clock, err := native.SystemClock()
	is.NoErr(err)
	near, far := net.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- pack.Run(far, far, clock) }()
	c := wire.NewConn(near, near)
	is.NoErr(errors.Join(c.Send(wire.Task, wire.PackTask{Folder: folder}), c.Flush()))
	_, err = c.Expect(wire.Listed)
	is.NoErr(err)
	is.NoErr(near.Close())
	is.True(errors.Is(<-ended, io.EOF))
}
