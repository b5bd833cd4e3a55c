package smallfile_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/native/smallfile"
)

func TestCreate(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "a")
	is.NoErr(smallfile.Create(path, []byte("one"), 0o600))
	is.True(errors.Is(smallfile.Create(path, []byte("two"), 0o600), fs.ErrExist))
	text, err := os.ReadFile(path)
	is.NoErr(err)
	is.Equal(string(text), "one")
	info, err := os.Stat(path)
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), fs.FileMode(0o600))

	link := path + ".link"
	is.NoErr(os.Symlink(path+".none", link))
	is.True(errors.Is(smallfile.Create(link, nil, 0o600), fs.ErrExist)) // what it points to is not made
	_, err = os.Lstat(path + ".none")
	is.True(errors.Is(err, fs.ErrNotExist))
}

func TestOverwrite(t *testing.T) {
	for _, test := range []struct {
		name, was, text, is string
		err                 error
	}{
		{"longer", "ab", "abcd", "abcd", nil},
		{"as long", "ab", "cd", "cd", nil},
		{"shorter", "abcd", "x", "x   ", nil},
		{"empty", "", "x", "x", nil},
		{"as long as can be", "ab", strings.Repeat("x", smallfile.Most), strings.Repeat("x", smallfile.Most), nil},
		{"too long", "ab", strings.Repeat("x", smallfile.Most+1), "ab", smallfile.ErrTooLong},
		{"too long before", strings.Repeat("x", smallfile.Most+1), "ab", strings.Repeat("x", smallfile.Most+1), smallfile.ErrTooLong},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			path := filepath.Join(t.TempDir(), "a")
			is.NoErr(os.WriteFile(path, []byte(test.was), 0o640))
			before, err := os.Stat(path)
			is.NoErr(err)
			is.True(errors.Is(smallfile.Overwrite(path, []byte(test.text)), test.err))
			text, err := os.ReadFile(path)
			is.NoErr(err)
			is.Equal(string(text), test.is)
			after, err := os.Stat(path)
			is.NoErr(err)
			is.True(os.SameFile(before, after))
			is.Equal(after.Mode(), before.Mode())
		})
	}
}

func TestOverwriteNeedsAFile(t *testing.T) {
	is := is.New(t)
	folder := t.TempDir()
	path := filepath.Join(folder, "a")
	is.True(errors.Is(smallfile.Overwrite(path, nil), fs.ErrNotExist))
	is.NoErr(os.WriteFile(path, []byte("mine"), 0o600))
	is.NoErr(os.Symlink(path, path+".link"))
	is.True(smallfile.Overwrite(path+".link", []byte("yours")) != nil)
	text, err := os.ReadFile(path)
	is.NoErr(err)
	is.Equal(string(text), "mine")
}

// TestAWriterIsKilled kills processes that write the same file over and over, and
// looks at what is left of it.
func TestAWriterIsKilled(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "a")
	is.NoErr(smallfile.Create(path, whole('a', 100), 0o600))
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
		text = bytes.TrimRight(text, " ")
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
const writes = "SMALLFILE_TEST_WRITES"

func TestMain(m *testing.M) {
	path := os.Getenv(writes)
	if path == "" {
		os.Exit(m.Run())
	}
	for i := 0; ; i++ {
		if err := smallfile.Overwrite(path, whole('a'+byte(i%26), 100+i*97%(smallfile.Most-100))); err != nil {
			os.Exit(1)
		}
		if i == 100 {
			os.Stdout.WriteString(".")
		}
	}
}
