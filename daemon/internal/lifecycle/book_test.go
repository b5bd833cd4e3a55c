package lifecycle

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"
)

func TestBook(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "life.json")
	boot := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	now := boot.Add(time.Hour)
	start := func() *Book {
		t.Helper()
		b, err := Open(path, now, boot)
		is.NoErr(err)
		return b
	}
	b := start()
	is.Equal(b.Recent(now), 0) // the first start of all
	now = now.Add(time.Minute)
	is.NoErr(b.Close())
	is.Equal(start().Recent(now), 0) // after an orderly end
	for ends := 1; ends <= LoopEnds; ends++ {
		now = now.Add(time.Minute)
		is.Equal(start().Recent(now), ends) // nobody has closed the book
	}
	now = now.Add(LoopWithin)
	b = start()
	is.Equal(b.Recent(now), 1) // the last run lasted; the ends before are long ago
	is.Equal(b.Recent(now.Add(LoopWithin)), 0)

	// A machine that was started meanwhile has ended it.
	boot = now.Add(time.Minute)
	now = boot.Add(time.Minute)
	is.Equal(start().Recent(now), 1)

	// A clock that was set back leaves nothing in the future.
	now = now.Add(-24 * time.Hour)
	boot = now.Add(-time.Hour)
	is.Equal(start().Recent(now), 1) // the run of tomorrow, which has ended
	for range 100 {
		now = now.Add(time.Second)
		b = start()
	}
	is.Equal(b.Recent(now), mostEnds)
	is.NoErr(os.WriteFile(path, []byte("{no JSON"), 0o600))
	is.Equal(start().Recent(now), 0)
	is.NoErr(os.Remove(path))
	is.NoErr(os.Mkdir(path, 0o700))
	_, err := Open(path, now, boot)
	is.True(err != nil)
}

func TestStopped(t *testing.T) {
	is := is.New(t)
	s := Stopped(filepath.Join(t.TempDir(), "stopped"))
	is.True(!s.IsSet())
	is.NoErr(s.Clear())
	is.NoErr(s.Set())
	is.NoErr(s.Set())
	is.True(s.IsSet())
	is.NoErr(s.Clear())
	is.True(!s.IsSet())
	is.True(Stopped(filepath.Join(t.TempDir(), "no folder", "stopped")).Set() != nil)
}
