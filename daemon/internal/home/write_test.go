package home

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest"
)

func names(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	is.New(t).NoErr(err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestWriteFile(t *testing.T) {
	is := is.New(t)
	old := syscall.Umask(0o077)
	t.Cleanup(func() { syscall.Umask(old) })
	path := filepath.Join(t.TempDir(), "file")
	is.NoErr(WriteFile(path, []byte("first, and longer"), 0o644))
	is.NoErr(WriteFile(path, []byte("second"), 0o640))
	text, err := os.ReadFile(path)
	is.NoErr(err)
	is.Equal(string(text), "second")
	is.Equal(modeOf(t, path), os.FileMode(0o640))
	is.Equal(names(t, filepath.Dir(path)), []string{"file"}) // no parts left
	is.True(Remove(filepath.Dir(path)) != nil)               // it is not empty
	is.NoErr(Remove(path))
	is.NoErr(Remove(path))
	is.Equal(len(names(t, filepath.Dir(path))), 0)
}

func TestWriteFileThroughLink(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	is.NoErr(os.Mkdir(filepath.Join(dir, "dotfiles"), 0o700))
	is.NoErr(os.WriteFile(filepath.Join(dir, "dotfiles", "real"), []byte("old"), 0o600))
	link := filepath.Join(dir, "link")
	is.NoErr(os.Symlink("dotfiles/real", link))
	is.NoErr(WriteFile(link, []byte("new"), 0o600))
	target, err := os.Readlink(link)
	is.NoErr(err)
	is.Equal(target, "dotfiles/real") // still a link
	text, err := os.ReadFile(filepath.Join(dir, "dotfiles", "real"))
	is.NoErr(err)
	is.Equal(string(text), "new")
}

func TestWriteFileOnFullDisk(t *testing.T) {
	is := is.New(t)
	disk := nativetest.SmallDisk(t, 1<<16)
	path := filepath.Join(disk, "file")
	is.NoErr(WriteFile(path, []byte("kept"), 0o600))
	err := WriteFile(path, bytes.Repeat([]byte("x"), 1<<17), 0o600)
	is.True(errors.Is(err, api.ReasonDiskFull))
	is.True(errors.Is(err, api.CodeExhausted))
	is.True(strings.Contains(api.AsError(err).Data.Remedy, disk)) // says where to make room
	text, err := os.ReadFile(path)
	is.NoErr(err)
	is.Equal(string(text), "kept")
	is.Equal(names(t, disk), []string{"file"})
}

func TestWriteFileWhereNothingCanBe(t *testing.T) {
	is := is.New(t)
	disk := nativetest.SmallDisk(t, 1<<16)
	nativetest.MakeReadOnly(t, disk)
	err := WriteFile(filepath.Join(disk, "file"), nil, 0o600)
	is.True(errors.Is(err, api.ReasonStateReadOnly))
}

func TestWriteFileWithoutPermission(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everywhere")
	}
	is := is.New(t)
	dir := t.TempDir()
	is.NoErr(os.Chmod(dir, 0o500))
	t.Cleanup(func() { os.Chmod(dir, 0o700) })
	err := WriteFile(filepath.Join(dir, "file"), nil, 0o600)
	is.True(errors.Is(err, api.ReasonStateReadOnly))
}

func TestExplainKeepsWhatIsForPeople(t *testing.T) {
	is := is.New(t)
	is.NoErr(Explain(nil, "write", "/x"))
	made := api.NewError(api.ReasonDeadline, "x")
	is.Equal(Explain(made, "write", "/x"), error(made))
	err := Explain(&os.PathError{Op: "open", Path: "/x/y", Err: syscall.EMFILE}, "open", "/x/y")
	is.True(errors.Is(err, api.ReasonTooManyFiles))
	is.True(errors.Is(err, syscall.EMFILE))
	err = Explain(&os.PathError{Op: "open", Path: "/x/y", Err: syscall.EIO}, "open", "/x/y")
	is.Equal(api.AsError(err).Message, "Cannot open /x/y: input/output error.")
}
