package transfer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/files/wire"
)

// script is what a sender writes, whatever it reads.
func script(write func(c *wire.Conn)) []byte {
	var out bytes.Buffer
	c := wire.NewConn(nil, &out)
	write(c)
	_ = c.Flush()
	return out.Bytes()
}

// offer writes a model of such files.
func offer(c *wire.Conn, files ...File) {
	h := header{Repository: "org/name", Revision: revision, Files: len(files)}
	for _, f := range files {
		h.Bytes += max(0, f.Size)
	}
	_ = c.Send(wire.Model, h)
	_ = wire.SendParts(c, wire.ModelFiles, files)
}

func answerWith(c *wire.Conn, content, hash string) {
	_ = c.Send(wire.Chunk, chunk{Size: len(content), SHA256: hash})
	_ = c.Write(wire.Data, []byte(content))
}

// receiveFrom has an account receive what was written.
func receiveFrom(t testing.TB, a account, written []byte, foldCase bool) (*receiver, error) {
	t.Helper()
	in := io.MultiReader(task(t, ReceiveTask{Places: a.places(), Model: named}), bytes.NewReader(written))
	r := newReceiver(in, io.Discard, io.Discard, clock(t))
	r.foldCase = foldCase
	return r, r.run()
}

func file(name string) File { return File{Path: name, Size: 1, Hash: sum("a")} }

func TestAHostileSenderChangesNothing(t *testing.T) {
	good := header{Repository: "org/name", Revision: revision, Files: 1, Bytes: 1}
	head := func(change func(h *header)) func(c *wire.Conn) {
		h := good
		change(&h)
		return func(c *wire.Conn) {
			_ = c.Send(wire.Model, h)
			_ = c.Send(wire.ModelFiles, []File{file("a")})
			answerWith(c, "a", sum("a"))
		}
	}
	files := func(all ...File) func(c *wire.Conn) {
		return func(c *wire.Conn) {
			offer(c, all...)
			answerWith(c, "a", sum("a"))
		}
	}
	for name, write := range map[string]func(c *wire.Conn){
		"up":              files(file("../a")),
		"up inside":       files(file("a/../../b")),
		"absolute":        files(file("/etc/passwd")),
		"the folder":      files(file(".")),
		"empty":           files(file("")),
		"a line":          files(file("a\nb")),
		"a backslash":     files(file(`a\b`)),
		"long":            files(file(strings.Repeat("a", 256))),
		"deep":            files(file(strings.Repeat("a/", 9) + "a")),
		"twice":           files(file("a"), file("a")),
		"below a file":    files(file("a"), file("a/b")),
		"above a file":    files(file("a/b"), file("a")),
		"negative":        files(File{Path: "a", Size: -1, Hash: sum("a")}),
		"large":           files(File{Path: "a", Size: maxBytes + 1, Hash: sum("a")}),
		"two sizes":       files(file("a"), File{Path: "b", Size: 2, Hash: sum("a")}),
		"not a hash":      files(File{Path: "a", Size: 1, Hash: "../../../" + strings.Repeat("a", 55)}),
		"capitals":        files(File{Path: "a", Size: 1, Hash: strings.ToUpper(sum("a"))}),
		"no files":        files(),
		"another":         head(func(h *header) { h.Repository = "org/other" }),
		"no repository":   head(func(h *header) { h.Repository = "../.." }),
		"three parts":     head(func(h *header) { h.Repository = "org/name/x" }),
		"folder as name":  head(func(h *header) { h.Repository = "org--name" }),
		"revision up":     head(func(h *header) { h.Revision = ".." }),
		"revision below":  head(func(h *header) { h.Revision = "a/b" }),
		"revision hidden": head(func(h *header) { h.Revision = ".fulmen" }),
		"ref up":          head(func(h *header) { h.Refs = []string{"../main"} }),
		"ref absolute":    head(func(h *header) { h.Refs = []string{"/main"} }),
		"many refs":       head(func(h *header) { h.Refs = make([]string, maxRefs+1) }),
		"too many files":  head(func(h *header) { h.Files = maxFiles + 1 }),
		"negative files":  head(func(h *header) { h.Files = -1 }),
		"fewer bytes":     head(func(h *header) { h.Bytes = 0 }),
		"more bytes":      head(func(h *header) { h.Bytes = 2 }),
		"negative bytes":  head(func(h *header) { h.Bytes = -1 }),
		"more files": func(c *wire.Conn) {
			_ = c.Send(wire.Model, good)
			_ = c.Send(wire.ModelFiles, []File{file("a"), file("b")})
		},
		"unknown fields": func(c *wire.Conn) {
			_ = c.Send(wire.Model, good)
			_ = c.Write(wire.ModelFiles, []byte(`[{"path":"a","size":1,"link":"/"}]`))
		},
		"an empty part":  func(c *wire.Conn) { _ = c.Send(wire.Model, good); _ = c.Write(wire.ModelFiles, []byte(`[]`)) },
		"data first":     func(c *wire.Conn) { _ = c.Write(wire.Data, []byte("x")) },
		"a longer chunk": func(c *wire.Conn) { offer(c, file("a")); answerWith(c, "aa", sum("aa")) },
		"more than stated": func(c *wire.Conn) {
			offer(c, file("a"))
			_ = c.Send(wire.Chunk, chunk{1, sum("a")})
			_ = c.Write(wire.Data, []byte("aa"))
		},
		"empty data": func(c *wire.Conn) {
			offer(c, file("a"))
			_ = c.Send(wire.Chunk, chunk{1, sum("a")})
			_ = c.Write(wire.Data, nil)
		},
		"several sums": func(c *wire.Conn) {
			offer(c, File{Path: "a", Size: 1})
			_ = c.Send(wire.Hashes, wire.HashList{sum("a"), sum("a")})
		},
		"an empty sum": func(c *wire.Conn) { offer(c, File{Path: "a", Size: 1}); _ = c.Send(wire.Hashes, wire.HashList{""}) },
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			a := newAccount(t)
			_, err := receiveFrom(t, a, script(write), false)
			is.True(errors.Is(err, wire.ErrProtocol))
			if _, err := os.Stat(a.cache(repo, "snapshots", revision)); err == nil {
				t.Fatalf("%v", a.tree())
			}
			isInside(t, a)
		})
	}
}

// isInside wants nothing of an account but its cache.
func isInside(t testing.TB, a account) {
	t.Helper()
	for folder, only := range map[string]string{a.home: ".cache", filepath.Join(a.home, ".cache"): "huggingface", filepath.Join(a.home, ".cache/huggingface"): "hub"} {
		if all, _ := os.ReadDir(folder); len(all) > 1 || len(all) == 1 && all[0].Name() != only {
			t.Fatalf("%s has %v", folder, all)
		}
	}
	all, _ := os.ReadDir(a.cache())
	for _, e := range all {
		if e.Name() != ".locks" && e.Name() != repo {
			t.Fatalf("the cache has %v", e)
		}
	}
}

// TestAlteredOnTheWay: a chunk that is not what its head says, and one that is cut.
func TestAlteredOnTheWay(t *testing.T) {
	is := is.New(t)
	a := newAccount(t)
	r, err := receiveFrom(t, a, script(func(c *wire.Conn) { offer(c, file("a")); answerWith(c, "b", sum("a")) }), false)
	is.Equal(api.AsError(err).Data.Reason, api.ReasonModelCorrupt)
	is.Equal(r.progress.DoneBytes, int64(0))
	r, err = receiveFrom(t, a, script(func(c *wire.Conn) { offer(c, file("a")); _ = c.Send(wire.Chunk, chunk{1, sum("a")}) }), false)
	is.True(errors.Is(err, io.EOF))
	is.Equal(r.failure(err).Data.Reason, api.ReasonModelNotCopied)
	// What has its chunk's hash and not its own: asked for twice, not more.
	_, err = receiveFrom(t, a, script(func(c *wire.Conn) {
		offer(c, file("a"))
		for range 3 {
			answerWith(c, "b", sum("b"))
		}
	}), false)
	is.Equal(api.AsError(err).Data.Reason, api.ReasonModelCorrupt)
	_, err = receiveFrom(t, a, script(func(c *wire.Conn) { offer(c, file("a")); answerWith(c, "b", sum("b")); answerWith(c, "a", sum("a")) }), false)
	is.NoErr(err)
}

// TestNamesThatOneDiskTakesForTheSame are refused there, and nowhere else.
func TestNamesThatOneDiskTakesForTheSame(t *testing.T) {
	for _, pair := range [][2]string{{"Read", "read"}, {"Ünï", "üNÏ"}, {"a/b", "A"}, {"a", "A/b"}, {"a/b", "A/c"}} {
		is := is.New(t)
		written := script(func(c *wire.Conn) { offer(c, file(pair[0]), file(pair[1])); answerWith(c, "a", sum("a")) })
		r, err := receiveFrom(t, newAccount(t), written, true)
		_, isSame := errors.AsType[*wire.SameNameError](err)
		is.True(isSame)
		is.True(contains(r.failure(err).Message, "are one name on this disk"))
		is.Equal(r.repo, nil) // nothing was opened yet
		if pair[0] != "a/b" || pair[1] != "A/c" {
			_, err = receiveFrom(t, newAccount(t), written, false)
			is.NoErr(err)
		}
	}
}

// TestLinksInTheCacheAreNotFollowedOut: what lies there already may lead anywhere.
func TestLinksInTheCacheAreNotFollowedOut(t *testing.T) {
	good := script(func(c *wire.Conn) { offer(c, file("d/a")); answerWith(c, "a", sum("a")) })
	for _, at := range []string{repo, ".locks", repo + "/blobs", repo + "/snapshots", repo + "/snapshots/" + revision, repo + "/.fulmen", repo + "/blobs/" + sum("a") + partialSuffix, repo + "/snapshots/" + revision + "/d"} {
		t.Run(at, func(t *testing.T) {
			is := is.New(t)
			a, outside := newAccount(t), t.TempDir()
			is.NoErr(os.MkdirAll(filepath.Dir(a.cache(at)), 0o755))
			is.NoErr(os.Symlink(outside, a.cache(at)))
			_, err := receiveFrom(t, a, good, false)
			is.True(err != nil)
			left, err := os.ReadDir(outside)
			is.NoErr(err)
			is.Equal(len(left), 0)
		})
	}
}

// TestOddRequests: a sender answers what is in the model, and nothing else.
func TestOddRequests(t *testing.T) {
	from := newAccount(t).model(100)
	for name, write := range map[string]func(c *wire.Conn){
		"no such file": func(c *wire.Conn) { _ = c.Send(wire.Ask, request{File: 2}) },
		"negative":     func(c *wire.Conn) { _ = c.Send(wire.Ask, request{File: -1}) },
		"between":      func(c *wire.Conn) { _ = c.Send(wire.Ask, request{Offset: 1}) },
		"behind":       func(c *wire.Conn) { _ = c.Send(wire.Ask, request{Offset: chunkBytes}) },
		"far behind":   func(c *wire.Conn) { _ = c.Send(wire.Ask, request{Offset: 1 << 62}) },
		"data":         func(c *wire.Conn) { _ = c.Write(wire.Data, []byte("x")) },
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			in := io.MultiReader(task(t, SendTask{Places: from.places(), Model: named}), bytes.NewReader(script(write)))
			var out bytes.Buffer
			err := Send(in, &out)
			is.True(errors.Is(err, wire.ErrProtocol))
			is.True(bytes.Contains(out.Bytes(), []byte("sent something unexpected")))
		})
	}
}

// FuzzReceiver has a sender write anything: nothing comes to be beside the repository, no
// link leads out of it, and no blob is there that is not what its name says.
func FuzzReceiver(f *testing.F) {
	f.Add(script(func(c *wire.Conn) { offer(c, file("d/a"), file("b")); answerWith(c, "a", sum("a")) }))
	f.Add(script(func(c *wire.Conn) {
		offer(c, File{Path: "a", Size: 1})
		_ = c.Send(wire.Hashes, wire.HashList{sum("a")})
		answerWith(c, "a", sum("a"))
	}))
	f.Add(script(func(c *wire.Conn) { c.Refuse(api.NewError(api.ReasonNoSuchModel, "x")) }))
	f.Fuzz(func(t *testing.T, written []byte) {
		a := newAccount(t)
		_, _ = receiveFrom(t, a, written, false)
		isInside(t, a)
		err := filepath.WalkDir(a.cache(repo), func(at string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil // there is none
			}
			if e.Type()&fs.ModeSymlink != 0 {
				if to, err := filepath.EvalSymlinks(at); err != nil || !strings.HasPrefix(to, a.cache(repo, "blobs")) {
					return fmt.Errorf("%s leads to %s: %w", at, to, err)
				}
			}
			content, _ := os.ReadFile(at)
			if len(e.Name()) == 64 && filepath.Base(filepath.Dir(at)) == "blobs" && sum(string(content)) != e.Name() {
				return fmt.Errorf("%s has %q", at, content)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
