package shim

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/matryer/is"
)

func TestAFileSystemWithoutHolesKeepsTheBeginning(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "out.0")
	l := newLogFile("stdout", path, "out.0", 1, 1<<20)
	l.punch = func(*os.File, int64, int64) error { return syscall.EOPNOTSUPP }
	block := bytes.Repeat([]byte("x"), 1<<20)
	for range 8 {
		n, err := l.Write(block)
		is.NoErr(err)
		is.Equal(n, len(block)) // the program never notices
	}
	state := l.state()
	is.Equal(state.WrittenBytes, int64(8<<20))
	is.Equal(state.Problem, syscall.EOPNOTSUPP.Error())
	is.True(state.KeptBytes >= 2<<20 && state.KeptBytes <= 4<<20) // and the disk does not fill
	info, err := os.Stat(path)
	is.NoErr(err)
	is.Equal(info.Size(), state.KeptBytes)
}

func TestALogThatCannotBeMadeAtFirst(t *testing.T) {
	is := is.New(t)
	folder := filepath.Join(t.TempDir(), "later")
	l := newLogFile("stderr", filepath.Join(folder, "err.0"), "err.0", 1<<20, 1<<20)
	_, err := l.Write([]byte("lost "))
	is.NoErr(err)
	is.NoErr(os.Mkdir(folder, 0o700))
	_, err = l.Write([]byte("kept"))
	is.NoErr(err)
	state := l.state()
	is.Equal(state.WrittenBytes, int64(9))
	is.Equal(state.KeptBytes, int64(4))
	is.Equal(state.Problem, syscall.ENOENT.Error())
}

func TestRoomIsMadeOfTheTail(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "out.0")
	l := newLogFile("stdout", path, "out.0", 64<<10, 1<<20)
	_, err := l.Write(make([]byte, 4<<20))
	is.NoErr(err)
	l.close()
	l.makeRoom()
	is.Equal(l.state().KeptBytes, int64(64<<10))
	info, err := os.Stat(path)
	is.NoErr(err)
	is.Equal(info.Size(), int64(64<<10))
}

// TestALinkInTheWay is a folder in which somebody has put a link: nothing is
// written through it.
func TestALinkInTheWay(t *testing.T) {
	is := is.New(t)
	folder := t.TempDir()
	victim := filepath.Join(folder, "victim")
	is.NoErr(os.WriteFile(victim, []byte("mine"), 0o600))
	is.NoErr(os.Symlink(victim, filepath.Join(folder, "out.0")))
	l := newLogFile("stdout", filepath.Join(folder, "out.0"), "out.0", 1, 1)
	_, err := l.Write([]byte("theirs"))
	is.NoErr(err)
	text, err := os.ReadFile(victim)
	is.NoErr(err)
	is.Equal(string(text), "mine")
	is.Equal(l.state().KeptBytes, int64(0))
	is.Equal(l.state().Problem, syscall.ELOOP.Error())
}

// FuzzLog reads what a program wrote from any place: what is given is what is there.
func FuzzLog(f *testing.F) {
	f.Add([]byte("one\ntwo\n"), int64(3), 4)
	f.Add([]byte{}, int64(-1), 0)
	f.Fuzz(func(t *testing.T, text []byte, offset int64, size int) {
		is := is.New(t)
		path := filepath.Join(t.TempDir(), "out.0")
		is.NoErr(os.WriteFile(path, text, 0o600))
		log, err := OpenLog(path)
		is.NoErr(err)
		defer log.Close()
		p := make([]byte, max(0, min(size, 1<<16)))
		n, skipped, err := log.ReadAt(p, offset)
		if err != nil {
			return // nothing is there
		}
		at := offset + skipped
		is.Equal(string(p[:n]), string(text[at:at+int64(n)]))
	})
}
