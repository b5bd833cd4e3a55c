package testkit_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native/nativetest/testkit"
)

func TestWrite(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "folder", "a")
	is.NoErr(testkit.WriteInput(path, []byte("one"), 0o755))
	long := time.Now().Add(-time.Hour)
	is.NoErr(os.Chtimes(path, long, long))
	before, err := os.Stat(path)
	is.NoErr(err)
	is.Equal(before.Mode().Perm(), fs.FileMode(0o755))

	is.NoErr(testkit.WriteInput(path, []byte("one"), 0o755))
	after, err := os.Stat(path)
	is.NoErr(err)
	is.True(os.SameFile(before, after) && after.ModTime().Equal(before.ModTime())) // it was not written

	is.NoErr(testkit.WriteInput(path, []byte("two"), 0o755))
	text, err := os.ReadFile(path)
	is.NoErr(err)
	is.Equal(string(text), "two")
}

func TestKeep(t *testing.T) {
	is := is.New(t)
	folder := t.TempDir()
	kept := filepath.Join(folder, "a", "kept")
	for _, path := range []string{kept, filepath.Join(folder, "a", "gone"), filepath.Join(folder, "b", "c", "gone")} {
		is.NoErr(testkit.WriteInput(path, nil, 0o644))
	}
	is.NoErr(testkit.KeepInputs(folder, map[string]bool{kept: true}))
	_, err := os.Stat(kept)
	is.NoErr(err)
	for _, name := range []string{"a/gone", "b"} {
		_, err := os.Stat(filepath.Join(folder, name))
		is.True(errors.Is(err, fs.ErrNotExist))
	}
}

// A result is kept until a file changes that the test did not read itself. WATCHED
// has the test below be that test, in a program of its own that the go command runs.
func TestWatch(t *testing.T) {
	is := is.New(t)
	root := t.TempDir()
	watched := filepath.Join(root, "daemon", "a.go")
	for path, text := range map[string]string{watched: "package a\n", filepath.Join(root, "build", "made"): "", filepath.Join(root, ".git", "HEAD"): ""} {
		is.NoErr(testkit.WriteInput(path, []byte(text), 0o644))
	}
	program, err := os.Executable()
	is.NoErr(err)
	log := filepath.Join(t.TempDir(), "log")
	test := exec.CommandContext(t.Context(), program, "-test.run=^TestWatched$", "-test.testlogfile="+log)
	test.Env = append(os.Environ(), "WATCHED="+root)
	out, err := test.CombinedOutput()
	is.Equal(strings.TrimSpace(string(out)), "PASS")
	is.NoErr(err)
	text, err := os.ReadFile(log)
	is.NoErr(err)
	is.True(strings.Contains(string(text), "stat "+watched+"\n"))
	is.True(strings.Contains(string(text), "open "+filepath.Dir(watched)+"\n")) // a file that is added counts
	is.True(!strings.Contains(string(text), "made"))
	is.True(!strings.Contains(string(text), "HEAD"))
}

func TestWatched(t *testing.T) {
	root := os.Getenv("WATCHED")
	if root == "" {
		t.Skip("TestWatch runs it")
	}
	is.New(t).NoErr(testkit.WatchInputs(root))
}
