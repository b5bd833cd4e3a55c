package atomicfile_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"fulmen/native/atomicfile"
)

func TestCreate(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "a")
	is.NoErr(atomicfile.Create(path, []byte("one"), 0o600))
	is.True(errors.Is(atomicfile.Create(path, []byte("two"), 0o600), fs.ErrExist))
	text, err := os.ReadFile(path)
	is.NoErr(err)
	is.Equal(string(text), "one")
	info, err := os.Stat(path)
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), fs.FileMode(0o600))

	link := path + ".link"
	is.NoErr(os.Symlink(path+".none", link))
	is.True(errors.Is(atomicfile.Create(link, nil, 0o600), fs.ErrExist)) // what it points to is not made
	_, err = os.Lstat(path + ".none")
	is.True(errors.Is(err, fs.ErrNotExist))
	is.Equal(len(files(t, path)), 2) // no part is left
}

func TestWrite(t *testing.T) {
	is := is.New(t)
	old := syscall.Umask(0o077)
	t.Cleanup(func() { syscall.Umask(old) })
	path := filepath.Join(t.TempDir(), "a")
	for _, write := range []func(string, []byte, fs.FileMode) error{atomicfile.Write, atomicfile.WriteSynced} {
		for _, text := range []string{"first, and longer", "second", strings.Repeat("x", 5000), ""} {
			is.NoErr(write(path, []byte(text), 0o640))
			got, err := os.ReadFile(path)
			is.NoErr(err)
			is.Equal(string(got), text)
			info, err := os.Stat(path)
			is.NoErr(err)
			is.Equal(info.Mode().Perm(), fs.FileMode(0o640))
		}
	}
	is.Equal(len(files(t, path)), 1)
}

// What cannot be placed leaves no part of it.
func TestWhereNothingCanBe(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "a")
	is.True(errors.Is(atomicfile.Write(filepath.Join(path, "b"), nil, 0o600), fs.ErrNotExist))
	is.NoErr(os.Mkdir(path, 0o700))
	is.True(atomicfile.Write(path, []byte("text"), 0o600) != nil)
	is.Equal(len(files(t, path)), 1)
}

// files are those in the folder of a path.
func files(t *testing.T, path string) []os.DirEntry {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	is.New(t).NoErr(err)
	return entries
}

// TestAWriterIsKilled kills processes that write the same file over and over, and
// looks at what is left of it.
func TestAWriterIsKilled(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "a")
	is.NoErr(atomicfile.Create(path, whole('a', 100), 0o600))
	for range 20 {
		writer := exec.Command(os.Args[0], "-test.run=^$")
		writer.Env = append(os.Environ(), writes+"="+path)
		begun, err := writer.StdoutPipe()
		is.NoErr(err)
		is.NoErr(writer.Start())
		_, err = io.ReadFull(begun, make([]byte, 1)) // in the midst of writing
		is.NoErr(err)
		is.NoErr(writer.Process.Kill())
		is.True(writer.Wait() != nil)
		text, err := os.ReadFile(path)
		is.NoErr(err)
		is.True(len(text) >= 100)
		is.Equal(text, whole(text[0], len(text))) // of one writing
	}
}

// whole is a text that shows whether a part of it is of another one.
func whole(letter byte, length int) []byte {
	text := bytes.Repeat([]byte{letter}, length)
	text[length-1] = '\n'
	return text
}

// writes is the variable by which this test is told to be the writer, and of what.
const writes = "ATOMICFILE_TEST_WRITES"

func TestMain(m *testing.M) {
	path := os.Getenv(writes)
	if path == "" {
		os.Exit(m.Run())
	}
	for i := 0; ; i++ {
		if err := atomicfile.Write(path, whole('a'+byte(i%26), 100+i*97%8000), 0o600); err != nil {
			os.Exit(1)
		}
		if i == 100 {
			os.Stdout.WriteString(".")
		}
	}
}
