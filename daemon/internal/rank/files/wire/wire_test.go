package wire

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

func TestFramesComeAsTheyWent(t *testing.T) {
	is := is.New(t)
	var line bytes.Buffer
	c := NewConn(&line, &line)
	var entries []Entry
	for i := range 5000 {
		entries = append(entries, Entry{Path: strings.Repeat("x", 60) + string(rune('a'+i%26)) + strings.Repeat("y", i/26), Type: TypeFile, Mode: 0o644})
	}
	is.NoErr(SendParts(c, Entries, entries))
	is.NoErr(c.Send(Listed, Listing{Version: Version, LeftOut: []string{".venv"}}))
	is.NoErr(c.Flush())
	var l List
	frames := 0
	for {
		kind, data, err := c.Read()
		is.NoErr(err)
		if kind == Listed {
			listing, err := Decode[Listing](data)
			is.NoErr(err)
			is.Equal(listing.LeftOut, []string{".venv"})
			break
		}
		frames++
		is.NoErr(l.Decode(data))
	}
	is.True(frames > 1)
	is.Equal(l.Entries(), entries)
	_, _, err := c.Read()
	is.True(errors.Is(err, io.EOF))
}

func TestEntriesThatAreNone(t *testing.T) {
	file := Entry{Path: "a", Type: TypeFile}
	for _, test := range []struct {
		name    string
		entries []Entry
	}{
		{"up", []Entry{{Path: "../a", Type: TypeFile}}},
		{"up inside", []Entry{{Path: "a/../../b", Type: TypeFile}}},
		{"absolute", []Entry{{Path: "/etc/passwd", Type: TypeFile}}},
		{"the folder itself", []Entry{{Path: ".", Type: TypeFolder}}},
		{"empty", []Entry{{Path: "", Type: TypeFile}}},
		{"NUL", []Entry{{Path: "a\x00b", Type: TypeFile}}},
		{"long", []Entry{{Path: strings.Repeat("a", 256), Type: TypeFile}}},
		{"twice", []Entry{file, file}},
		{"below a file", []Entry{file, {Path: "a/b", Type: TypeFile}}},
		{"below a link", []Entry{{Path: "l", Type: TypeLink, Target: "x"}, {Path: "l/b", Type: TypeFile}}},
		{"below nothing", []Entry{{Path: "x/b", Type: TypeFile}}},
		{"setuid", []Entry{{Path: "a", Type: TypeFile, Mode: os.ModeSetuid | 0o755}}},
		{"octal setuid", []Entry{{Path: "a", Type: TypeFile, Mode: 0o4755}}},
		{"a device", []Entry{{Path: "a", Type: "device"}}},
		{"a link out", []Entry{{Path: "l", Type: TypeLink, Target: "../x"}}},
		{"an absolute link", []Entry{{Path: "l", Type: TypeLink, Target: "/etc"}}},
		{"negative", []Entry{{Path: "a", Type: TypeFile, Bytes: -1}}},
		{"too many bytes", []Entry{{Path: "a", Type: TypeFile, Bytes: MaxBytes}, {Path: "b", Type: TypeFile, Bytes: 1}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var l List
			var err error
			for _, e := range test.entries {
				err = l.Add(e)
			}
			is.New(t).True(errors.Is(err, ErrProtocol))
		})
	}
	t.Run("one name on this disk", func(t *testing.T) {
		is := is.New(t)
		l := List{FoldCase: true}
		is.NoErr(l.Add(file))
		_, same := errors.AsType[*SameNameError](l.Add(Entry{Path: "A", Type: TypeFile}))
		is.True(same)
	})
}

// Whatever links that may stay there are, none of them leads out of the folder.
func TestLinksThatStayLeadNowhereElse(t *testing.T) {
	random := testkit.Fixed(t, 3).Source(5)
	steps := []string{"a", "b", "c", "..", "..", ".", "", "l1", "l2", "l3"}
	for range 300 {
		base := t.TempDir()
		root := filepath.Join(base, "x", "y", "root")
		if err := os.MkdirAll(filepath.Join(root, "a", "b", "c"), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"l1", "a/l2", "a/b/l3", "a/l1", "l3"} {
			for {
				var parts []string
				for range 1 + random.IntN(4) {
					parts = append(parts, steps[random.IntN(len(steps))])
				}
				target := strings.Join(parts, "/")
				if !StaysInside(name, target) {
					continue
				}
				if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
					t.Fatal(err)
				}
				break
			}
		}
		resolved, err := filepath.EvalSymlinks(root)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"l1", "a/l2", "a/b/l3", "a/l1", "l3"} {
			at, err := filepath.EvalSymlinks(filepath.Join(root, name))
			if err == nil && at != resolved && !strings.HasPrefix(at, resolved+"/") {
				target, _ := os.Readlink(filepath.Join(root, name))
				t.Fatalf("%s -> %s leads to %s", name, target, at)
			}
		}
	}
}

func TestARefusalIsKeptShort(t *testing.T) {
	is := is.New(t)
	var line bytes.Buffer
	c := NewConn(&line, &line)
	c.Refuse(api.Errorf(api.ReasonSyncTooLarge, "x", "%s", strings.Repeat("é", 100<<10)))
	_, err := c.Expect(Entries)
	is.True(errors.Is(err, api.ReasonSyncTooLarge))
	is.True(len(err.Error()) < 2000)

	e, err := DecodeRefusal([]byte(`{"code":4,"message":"m","data":{"reason":"something_new"}}`))
	is.NoErr(err)
	is.Equal(e.Data.Reason, api.ReasonSyncFailed)
}

func FuzzConn(f *testing.F) {
	// Each seed is short, so that what is found in it is soon made shorter still.
	for _, report := range []func(c *Conn) error{
		func(c *Conn) error {
			return c.Send(Entries, []Entry{{Path: "a", Type: TypeFolder}, {Path: "a/b", Type: TypeFile, Bytes: 3}})
		},
		func(c *Conn) error { return c.Send(Listed, Listing{Version: Version}) },
		func(c *Conn) error { return c.Send(Hash, []int{1}) },
		func(c *Conn) error { return c.Send(Hashes, []string{strings.Repeat("ab", 32)}) },
		func(c *Conn) error { return c.Send(File, Begin{Index: 1}) },
		func(c *Conn) error { return c.Write(Data, []byte("xyz")) },
		func(c *Conn) error { return c.Send(End, Ending{SHA256: strings.Repeat("ab", 32)}) },
		func(c *Conn) error { return c.Send(Task, UnpackTask{Home: "/home/me", Area: "a/b", Name: "c"}) },
		func(c *Conn) error { return c.Send(Clean, CleanTask{Home: "/home/me", Area: "a/b"}) },
		func(c *Conn) error { return c.Send(Refused, api.NewError(api.ReasonDiskFull, "")) },
	} {
		var line bytes.Buffer
		c := NewConn(&line, &line)
		if err := errors.Join(report(c), c.Flush()); err != nil {
			f.Fatal(err)
		}
		f.Add(line.Bytes())
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		conn := NewConn(bytes.NewReader(stream), io.Discard)
		var l List
		for {
			kind, data, err := conn.Read()
			if err != nil {
				return
			}
			if len(data) > len(stream) {
				t.Fatal("more than there was")
			}
			switch kind {
			case Entries:
				_ = l.Decode(data)
				for _, e := range l.Entries() {
					if !filepath.IsLocal(e.Path) || e.Perm()&^os.ModePerm != 0 {
						t.Fatalf("%+v", e)
					}
				}
			case Hash, Want:
				indices, _ := DecodeIndices(data, l.Entries(), -1)
				for _, i := range indices {
					_ = l.Entries()[i]
				}
			case Listed:
				_, _ = Decode[Listing](data)
			case Hashes:
				_, _ = Decode[HashList](data)
			case File:
				_, _ = Decode[Begin](data)
			case End:
				_, _ = Decode[Ending](data)
			case Refused:
				_, _ = DecodeRefusal(data)
			case Task:
				if task, err := Decode[UnpackTask](data); err == nil && !filepath.IsLocal(filepath.Join(task.Area, task.Name)) {
					t.Fatalf("%+v", task)
				}
				_, _ = Decode[PackTask](data)
			case Clean:
				_, _ = Decode[CleanTask](data)
			}
			_, _ = Decode[Report](data)
		}
	})
}
