package files_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/files"
)

func TestACopyIsTheFolder(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := newScenario(t)
	d.write(t, map[string]string{
		"train.py": "print(1)", "lib/a.py": "a", "lib/empty": "", "lib/deep/er/b": "b", "link": "->lib/a.py", "lib/up": "->../train.py",
		"dangling": "->lib/none", "run.sh": "#!/bin/sh", "with \n newline": "x",
	})
	is.NoErr(os.Chmod(filepath.Join(d.from, "run.sh"), 0o755))
	is.NoErr(os.Chmod(filepath.Join(d.from, "lib/empty"), 0o4600)) // no copy runs as anybody else
	is.NoErr(os.Mkdir(filepath.Join(d.from, "nothing"), 0o755))
	d.own(t)
	want := tree(t, d.from)
	want["lib/empty"] = strings.Replace(want["lib/empty"], "urw", "-rw", 1)
	dir, err := d.fetch()
	is.NoErr(err)
	is.Equal(filepath.Base(dir), "proj")
	is.True(strings.HasPrefix(dir, filepath.Join(d.home, ".fulmen", "sync", string(there))+"/"))
	is.Equal(tree(t, dir), want)
	info, err := os.Stat(filepath.Join(d.home, ".fulmen"))
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), os.FileMode(0o700))
}

func TestWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := newScenario(t)
	d.write(t, map[string]string{
		".gitignore": "*.bin\n/data/\n", "a.py": "a", "a.bin": "", "data/x": "", "sub/data/x": "kept", "sub/.gitignore": "!w.bin\n", "sub/w.bin": "kept",
		".git/HEAD": "", "sub/.git": "gitdir: x", ".venv/bin/python": "->/usr/bin/python3", "pkg/__pycache__/x.pyc": "", "node_modules/x": "", "own/.gitignore": "!.venv\n", "own/.venv/kept": "kept",
	})
	dir, err := d.fetch()
	is.NoErr(err)
	var names []string
	for _, name := range []string{"a.py", "a.bin", "data", "sub/data/x", "sub/w.bin", ".git", "sub/.git", ".venv", "pkg/__pycache__", "node_modules", "own/.venv/kept", ".gitignore"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			names = append(names, name)
		}
	}
	is.Equal(names, []string{"a.py", "sub/data/x", "sub/w.bin", "own/.venv/kept", ".gitignore"})
}

func TestASecondRunSendsTheChangesAlone(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := newScenario(t)
	d.write(t, map[string]string{"same": "same", "changes": "before", "goes": "x", "folder/goes": "x", "becomes/folder": "x", "turns": "x", "touched": "t"})
	old := time.Now().Add(-time.Hour)
	for name := range tree(t, d.from) {
		is.NoErr(os.Chtimes(filepath.Join(d.from, name), old, old))
	}
	dir, err := d.fetch()
	is.NoErr(err)
	is.Equal(d.sent.Swap(0), int64(4+6+1+1+1+1+1))

	// What a program made in the copy stays, and what it changed is put right.
	is.NoErr(os.WriteFile(filepath.Join(dir, "made-here"), []byte("m"), 0o644))
	is.NoErr(os.WriteFile(filepath.Join(dir, "same"), []byte("samé"), 0o644))
	for _, name := range []string{"goes", "folder", "becomes", "turns"} {
		is.NoErr(os.RemoveAll(filepath.Join(d.from, name)))
	}
	d.write(t, map[string]string{"changes": "after!", "becomes": "a file", "turns/into": "a folder", "new": "->same"})
	is.NoErr(os.Chtimes(filepath.Join(d.from, "touched"), time.Time{}, old.Add(time.Minute)))
	is.NoErr(os.Chmod(filepath.Join(d.from, "touched"), 0o600))
	_, err = d.fetch()
	is.NoErr(err)
	is.Equal(d.sent.Swap(0), int64(len("same")+len("after!")+len("a file")+len("a folder")))
	want, got := tree(t, d.from), tree(t, dir)
	is.True(strings.HasSuffix(got["made-here"], " m"))
	delete(got, "made-here")
	is.Equal(got, want)

	_, err = d.fetch()
	is.NoErr(err)
	is.Equal(d.sent.Swap(0), int64(0))
}

// A file that was changed just before it was copied may change again without its
// time saying so.
func TestAChangeWithinTheSameTimeIsSeen(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := newScenario(t)
	d.write(t, map[string]string{"a": "one"})
	info, err := os.Stat(filepath.Join(d.from, "a"))
	is.NoErr(err)
	dir, err := d.fetch()
	is.NoErr(err)
	d.write(t, map[string]string{"a": "two"})
	is.NoErr(os.Chtimes(filepath.Join(d.from, "a"), time.Time{}, info.ModTime()))
	_, err = d.fetch()
	is.NoErr(err)
	data, err := os.ReadFile(filepath.Join(dir, "a"))
	is.NoErr(err)
	is.Equal(string(data), "two")
}

func TestWhatCannotBeCopied(t *testing.T) {
	for _, test := range []struct {
		name   string
		files  map[string]string
		also   func(d *scenario) error
		reason api.Reason
		names  string
	}{
		{"an absolute link", map[string]string{"a/l": "->/etc/passwd"}, nil, api.ReasonSyncLeavesFolder, "a/l"},
		{"a link out", map[string]string{"a/l": "->../../x"}, nil, api.ReasonSyncLeavesFolder, "a/l"},
		{"a link up behind a folder", map[string]string{"a/l": "->b/../c"}, nil, api.ReasonSyncLeavesFolder, "a/l"},
		{"no folder", nil, func(d *scenario) error { return os.RemoveAll(d.from) }, api.ReasonDirectoryMissing, "proj"},
		{"no home", nil, func(d *scenario) error { d.who.Home += "/gone"; return nil }, api.ReasonAccountForbidden, "no home folder"},
		{"a name that is not UTF-8", map[string]string{"a\xff": ""}, nil, api.ReasonSyncFailed, `a\xff`},
		{"too large", map[string]string{"small": "", "data/models/big": ""}, func(d *scenario) error {
			return os.Truncate(filepath.Join(d.from, "data/models/big"), 1<<30+1)
		}, api.ReasonSyncTooLarge, "data/models"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			d := newScenario(t)
			d.write(t, test.files)
			if test.also != nil {
				is.NoErr(test.also(d))
			}
			_, err := d.fetch()
			is.True(errors.Is(err, test.reason))
			known, _ := errors.AsType[*api.Error](err)
			is.True(strings.Contains(known.Message, test.names)) // the message names it
		})
	}
}

func TestOnlyWhoMayIsGivenTheFolder(t *testing.T) {
	t.Parallel()
	d := newScenario(t)
	for _, test := range []struct {
		of    api.JobID
		epoch uint64
		want  api.Reason
	}{{job, 2, api.ReasonStaleEpoch}, {"j11111111", 3, api.ReasonNoSuchJob}} {
		_, err := d.here.Fetch(context.Background(), test.of, test.epoch, there, d.who, d.from)
		if !errors.Is(err, test.want) {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
}

func TestTheRightsOfTheAccountCount(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	t.Parallel()
	is := is.New(t)
	d := newScenario(t)
	d.write(t, map[string]string{"mine": "x", "secret": "x"})
	is.NoErr(os.Lchown(filepath.Join(d.from, "secret"), 0, 0))
	is.NoErr(os.Chmod(filepath.Join(d.from, "secret"), 0o600))
	_, err := d.fetch()
	is.True(errors.Is(err, api.ReasonPermissionDenied))
	is.NoErr(os.Remove(filepath.Join(d.from, "secret")))

	is.NoErr(os.RemoveAll(filepath.Join(d.home, ".fulmen")))
	is.NoErr(os.Chown(d.home, 0, 0)) // the receiver may not write there
	_, err = d.fetch()
	is.True(errors.Is(err, api.ReasonPermissionDenied))

	d.who.UID = 0
	_, err = d.fetch()
	is.True(errors.Is(err, api.ReasonAccountForbidden))
}

func TestOldCopiesGo(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := newScenario(t)
	d.write(t, map[string]string{"a": "a"})
	first, err := d.fetch()
	is.NoErr(err)
	is.NoErr(d.here.Clean(context.Background(), d.who, nil))
	is.Equal(len(tree(t, first)), 1) // it was used just now

	old := time.Now().Add(-files.Unused - time.Minute)
	is.NoErr(os.Chtimes(filepath.Join(filepath.Dir(first), ".state", "lock"), old, old))
	is.NoErr(d.here.Clean(context.Background(), d.who, []string{first}))
	is.Equal(len(tree(t, first)), 1) // it is to be kept
	is.NoErr(d.here.Clean(context.Background(), d.who, nil))
	is.Equal(len(tree(t, filepath.Join(d.home, ".fulmen", "sync"))), 0)
}
