package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/matryer/is"
	bolt "go.etcd.io/bbolt/errors"

	"fulmen/daemon/api"
)

// Only where there was no room, or nothing may be written, is the database after a
// failed commit as good as before.
func TestHarmlessFailures(t *testing.T) {
	is := is.New(t)
	for _, err := range []error{bolt.ErrMaxSizeReached, syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS} {
		is.True(harmless(fmt.Errorf("commit: %w", err)))
	}
	for _, err := range []error{syscall.EIO, syscall.EBADF, bolt.ErrInvalid, errors.New("unknown")} {
		is.True(!harmless(err))
	}
}

// What bbolt finds amiss with the file is damage, of which the owner hears once; the
// first of several failures stands.
func TestFailures(t *testing.T) {
	for _, found := range []error{bolt.ErrInvalid, bolt.ErrChecksum, bolt.ErrVersionMismatch} {
		is := is.New(t)
		received := 0
		o := options()
		o.OnDamage = func(error) { received++ }
		s := opened(t, pathOf(t), o)
		is.True(errors.Is(s.judge(syscall.EIO, "read"), syscall.EIO))
		is.NoErr(s.failure())
		is.Equal(received, 0)
		first := s.judge(fmt.Errorf("page 3: %w", found), "read")
		is.True(errors.Is(first, api.ReasonStateCorrupt))
		is.True(errors.Is(s.fail(syscall.EIO), syscall.EIO))
		is.Equal(s.failure(), first)
		is.Equal(received, 1)
		is.Equal(s.Put("jobs", "a", nil), first)
		is.NoErr(s.Close())
	}
	is := is.New(t)
	received := 0
	o := options()
	o.OnDamage = func(error) { received++ }
	s := opened(t, pathOf(t), o)
	is.True(errors.Is(s.fail(syscall.EIO), syscall.EIO))
	is.Equal(received, 0) // nobody knows what is on the disk, and it is not known to be damaged
	is.True(errors.Is(s.Put("jobs", "a", nil), syscall.EIO))
}

// A file as large as the limit is read, one that is larger is left alone.
func TestLimitToTheByte(t *testing.T) {
	is := is.New(t)
	path := pathOf(t)
	text := sample(t)
	is.NoErr(os.WriteFile(path, text, 0o600))
	is.NoErr(examine(path, int64(len(text))))
	is.True(errors.Is(examine(path, int64(len(text))-1), api.ReasonDiskFull))
	o := options()
	o.MaxBytes = int64(len(text)) - 1
	_, err := Open(t.Context(), path, o)
	is.True(errors.Is(err, api.ReasonDiskFull))
	is.Equal(asides(t, path), nil)
	s := opened(t, path, options())
	is.Equal(s.Path(), path)
}

// A record is at least its checksum.
func TestSealedRecords(t *testing.T) {
	is := is.New(t)
	for _, value := range []string{"", "x", "value"} {
		record := seal("jobs", "a", []byte(value))
		is.Equal(len(record), sumSize+len(value))
		back, intact := unseal([]byte("jobs"), []byte("a"), record)
		is.True(intact)
		is.Equal(string(back), value)
		for _, other := range [][2]string{{"job", "sa"}, {"jobs", "b"}, {"links", "a"}} {
			_, intact = unseal([]byte(other[0]), []byte(other[1]), record)
			is.True(!intact)
		}
		_, intact = unseal([]byte("jobs"), []byte("a"), record[:sumSize-1])
		is.True(!intact)
	}
	s := opened(t, pathOf(t), options())
	is.NoErr(s.Put("jobs", "a", make([]byte, MaxValueBytes)))
	is.True(errors.Is(s.Put("jobs", "b", make([]byte, MaxValueBytes+1)), api.CodeInternal))
}

// A database is compacted at the start where as much of it is unused as is worth the
// while, and half of it.
func TestWhatIsCompacted(t *testing.T) {
	for _, c := range []struct {
		name         string
		kept, unused int // KiB
		want         bool
	}{
		{"little is unused", 0, 700, false},
		{"much, and less than half", 9000, 1500, false},
		{"much, and more than half", 500, 2000, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			path := pathOf(t)
			s := opened(t, path, options())
			is.NoErr(s.Put("jobs", "kept", make([]byte, c.kept<<10)))
			is.NoErr(s.Put("jobs", "unused", make([]byte, c.unused<<10)))
			is.NoErr(s.Delete("jobs", "unused"))
			is.NoErr(s.Close())
			size := func() int64 {
				info, err := os.Stat(path)
				is.NoErr(err)
				return info.Size()
			}
			before := size()
			s = opened(t, path, options())
			is.Equal(size() < before, c.want)
			is.NoErr(compacted(s))
			is.True(size() < before)
			is.NoErr(s.Put("jobs", "after", nil))
			is.Equal(len(all(t, s, "jobs")), 2)
		})
	}
}

// A closed database is the caller's fault; what stands in the way of a new file is said.
func TestWhatCannotBeDone(t *testing.T) {
	is := is.New(t)
	path := pathOf(t)
	s := opened(t, path, options())
	is.NoErr(s.Put("jobs", "a", []byte("1")))
	is.NoErr(os.MkdirAll(filepath.Join(path+newSuffix, "inside"), 0o700))
	is.NoErr(compacted(s))
	is.NoErr(s.failure()) // it is as it was
	is.Equal(all(t, s, "jobs"), map[string]string{"a": "1"})
	is.NoErr(s.Close())
	is.True(errors.Is(s.Put("jobs", "a", nil), api.CodeInternal))
	_, err := Open(t.Context(), path, options())
	is.True(err != nil)
	is.NoErr(os.RemoveAll(path + newSuffix))
	s = opened(t, path, options()) // and the lock was let go of
	is.Equal(all(t, s, "jobs"), map[string]string{"a": "1"})
	is.NoErr(s.Close())
	is.NoErr(os.WriteFile(path+newSuffix, []byte("half"), 0o600)) // what a process left that was killed
	s = opened(t, path, options())
	_, err = os.Lstat(path + newSuffix)
	is.True(errors.Is(err, os.ErrNotExist))
	is.Equal(all(t, s, "jobs"), map[string]string{"a": "1"})
}

// A version that is no number is damage.
func TestUnreadableVersion(t *testing.T) {
	for _, record := range [][]byte{seal(schemaBucket, formatKey, []byte("one")), []byte("xx"), seal(schemaBucket, "jobs", []byte("1"))} {
		is := is.New(t)
		s := opened(t, pathOf(t), options())
		tx, err := s.db.Begin(true)
		is.NoErr(err)
		is.NoErr(tx.Bucket([]byte(schemaBucket)).Put([]byte(formatKey), record))
		is.True(errors.Is(s.prepare(tx), api.ReasonStateCorrupt))
		is.NoErr(tx.Rollback())
	}
}
