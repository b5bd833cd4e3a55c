package unpack_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/internal/rank/files/unpack"
	"fulmen/daemon/internal/rank/files/wire"
	"fulmen/native"
)

func sum(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

// script is what a sender says, without hearing anything.
func script(home string, report func(c *wire.Conn)) []byte {
	var line bytes.Buffer
	c := wire.NewConn(nil, &line)
	_ = c.Send(wire.Task, wire.UnpackTask{Home: home, Area: "area/1", Name: "proj"})
	report(c)
	_ = c.Flush()
	return line.Bytes()
}

func receive(t testing.TB, stream []byte) error {
	t.Helper()
	clock, err := native.SystemClock()
	if err != nil {
		t.Fatal(err)
	}
	return unpack.Run(bytes.NewReader(stream), io.Discard, io.Discard, clock)
}

func sendFile(c *wire.Conn, index int, text, hash string) {
	_ = c.Send(wire.File, wire.Begin{Index: index})
	_ = c.Write(wire.Data, []byte(text))
	_ = c.Send(wire.End, wire.Ending{SHA256: hash, Modified: 1})
}

// whole is what an honest sender says of a folder with one file.
func whole(c *wire.Conn) {
	_ = c.Send(wire.Entries, []wire.Entry{{Path: "d", Type: wire.TypeFolder, Mode: 0o755}, {Path: "d/a", Type: wire.TypeFile, Mode: 0o644, Bytes: 1},
		{Path: "l", Type: wire.TypeLink, Target: "d/a"}})
	_ = c.Send(wire.Listed, wire.Listing{Version: wire.Version})
	_ = c.Send(wire.Hashed, nil)
	sendFile(c, 1, "a", sum("a"))
	_ = c.Send(wire.Sent, nil)
}

func list(c *wire.Conn, entries ...wire.Entry) {
	_ = c.Send(wire.Entries, entries)
	_ = c.Send(wire.Listed, wire.Listing{Version: wire.Version})
	_ = c.Send(wire.Hashed, nil)
}

func TestAHostileSenderChangesNothing(t *testing.T) {
	one := wire.Entry{Path: "a", Type: wire.TypeFile, Bytes: 1}
	for _, test := range []struct {
		name   string
		report func(c *wire.Conn)
		cut    bool // it ends too early; otherwise it breaks a rule
	}{
		{"a path that leads out", func(c *wire.Conn) { list(c, wire.Entry{Path: "../out", Type: wire.TypeFile}) }, false},
		{"a link that leads out", func(c *wire.Conn) { list(c, wire.Entry{Path: "l", Type: wire.TypeLink, Target: "../../out"}) }, false},
		{"a file below a link", func(c *wire.Conn) {
			list(c, wire.Entry{Path: "l", Type: wire.TypeLink, Target: "x"}, wire.Entry{Path: "l/a", Type: wire.TypeFile})
		}, false},
		{"unknown fields", func(c *wire.Conn) { _ = c.Write(wire.Entries, []byte(`[{"path":"a","type":"file","owner":0}]`)) }, false},
		{"another version", func(c *wire.Conn) { _ = c.Send(wire.Listed, wire.Listing{Version: 2}) }, false},
		{"another file than was asked for", func(c *wire.Conn) { list(c, one); sendFile(c, 7, "a", sum("a")) }, false},
		{"altered contents", func(c *wire.Conn) { list(c, one); sendFile(c, 0, "b", sum("a")); _ = c.Send(wire.Sent, nil) }, false},
		{"no end", func(c *wire.Conn) { list(c, one); sendFile(c, 0, "a", sum("a")) }, true},
		{"again and again", func(c *wire.Conn) {
			list(c, one)
			for range 20 {
				_ = c.Send(wire.File, wire.Begin{Index: 0})
				_ = c.Send(wire.End, wire.Ending{Again: true})
			}
		}, false},
		{"nothing", func(*wire.Conn) {}, true},
		{"data before the list", func(c *wire.Conn) { _ = c.Write(wire.Data, []byte("x")) }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			home := t.TempDir()
			is.NoErr(receive(t, script(home, whole)))
			err := receive(t, script(home, test.report))
			is.Equal(errors.Is(err, wire.ErrProtocol), !test.cut)
			is.True(err != nil)
			text, err := os.ReadFile(filepath.Join(home, "area/1/proj/l"))
			is.NoErr(err)
			is.Equal(string(text), "a")
			all, err := filepath.Glob(filepath.Join(home, "*"))
			is.NoErr(err)
			is.Equal(len(all), 1)
		})
	}
}

// Links that a program left in the copy lead no file elsewhere.
func TestLinksInTheCopyAreNotFollowed(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	home, outside := t.TempDir(), t.TempDir()
	is.NoErr(os.WriteFile(filepath.Join(outside, "a"), []byte("theirs"), 0o600))
	is.NoErr(os.MkdirAll(filepath.Join(home, "area/1/proj"), 0o755))
	is.NoErr(os.Symlink(outside, filepath.Join(home, "area/1/proj/d")))
	is.NoErr(os.Symlink(filepath.Join(outside, "a"), filepath.Join(home, "area/1/proj/l")))
	is.NoErr(receive(t, script(home, whole)))
	text, err := os.ReadFile(filepath.Join(outside, "a"))
	is.NoErr(err)
	is.Equal(string(text), "theirs")
	text, err = os.ReadFile(filepath.Join(home, "area/1/proj/d/a"))
	is.NoErr(err)
	is.Equal(string(text), "a")

	// Nor is an area that lies behind one.
	is.NoErr(os.RemoveAll(filepath.Join(home, "area")))
	is.NoErr(os.Symlink(outside, filepath.Join(home, "area")))
	is.True(receive(t, script(home, whole)) != nil)
	_, err = os.Lstat(filepath.Join(outside, "1"))
	is.True(errors.Is(err, os.ErrNotExist))
}

// A file that was longer than listed counts, so that no disk is filled by a list
// of small ones.
func TestMoreThanTheLimitIsNotTaken(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes a gigabyte")
	}
	t.Parallel()
	is := is.New(t)
	home := t.TempDir()
	head := script(home, func(c *wire.Conn) {
		list(c, wire.Entry{Path: "a", Type: wire.TypeFile, Bytes: 1})
		_ = c.Send(wire.File, wire.Begin{Index: 0})
	})
	var data bytes.Buffer
	c := wire.NewConn(nil, &data)
	_ = c.Write(wire.Data, make([]byte, wire.MaxFrameBytes))
	_ = c.Flush()
	clock, err := native.SystemClock()
	is.NoErr(err)
	stream := io.MultiReader(bytes.NewReader(head), &endless{frame: data.Bytes()})
	err = unpack.Run(stream, io.Discard, io.Discard, clock)
	is.True(err != nil)
	is.True(strings.Contains(err.Error(), "larger than --sync copies"))
}

// endless is a frame without end.
type endless struct {
	frame []byte
	at    int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.frame[e.at:])
	e.at = (e.at + n) % len(e.frame)
	return n, nil
}

// FuzzReceive has a sender say anything: whatever that is, nothing appears beside
// the area and nothing in it leads out.
func FuzzReceive(f *testing.F) {
	const placeholder = "/home/me"
	full := script(placeholder, whole)
	skip := len(script(placeholder, func(*wire.Conn) {}))
	f.Add(full[skip:])
	f.Add(script(placeholder, func(c *wire.Conn) { list(c, wire.Entry{Path: "l", Type: wire.TypeLink, Target: "d/../.."}) })[skip:])
	f.Fuzz(func(t *testing.T, reported []byte) {
		base := t.TempDir()
		home := filepath.Join(base, "home")
		if err := os.Mkdir(home, 0o755); err != nil {
			t.Fatal(err)
		}
		_ = receive(t, append(script(home, func(*wire.Conn) {}), reported...))
		for _, dir := range []string{base, home} {
			if found, _ := os.ReadDir(dir); len(found) > 1 {
				t.Fatalf("%s holds %v", dir, found)
			}
		}
		_ = filepath.WalkDir(home, func(name string, e os.DirEntry, err error) error {
			if err == nil && e.Type()&os.ModeSymlink != 0 {
				if at, err := filepath.EvalSymlinks(name); err == nil && !strings.HasPrefix(at, filepath.Join(home, "area/1/proj")) {
					t.Fatalf("%s leads to %s", name, at)
				}
			}
			if info, infoErr := e.Info(); infoErr == nil && info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
				t.Fatalf("%s has %v", name, info.Mode())
			}
			return err
		})
	})
}
