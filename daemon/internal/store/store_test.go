package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
	bolt "go.etcd.io/bbolt"

	"fulmen/daemon/api"
)

func options() Options {
	return Options{Buckets: []string{"jobs", "links"}}
}

func pathOf(t testing.TB) string { return filepath.Join(t.TempDir(), "state.db") }

// opened opens a database that nobody else has, until the test ends.
func opened(t testing.TB, path string, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// compacted has the database written anew, as it is at the start where that is worth it.
func compacted(s *Store) error {
	s.use.Lock()
	defer s.use.Unlock()
	return s.compact()
}

// all is every record of a bucket.
func all(t testing.TB, r interface {
	ForEach(bucket, prefix string, f func(key string, value []byte) error) error
}, bucket string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := r.ForEach(bucket, "", func(key string, value []byte) error {
		out[key] = string(value)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRecords(t *testing.T) {
	is := is.New(t)
	path := pathOf(t)
	s := opened(t, path, options())
	_, found, err := s.Get("jobs", "a")
	is.NoErr(err)
	is.True(!found)
	is.NoErr(s.Put("jobs", "a", []byte("one")))
	is.NoErr(s.Put("jobs", "a", []byte("two")))
	is.NoErr(s.Put("jobs", "empty", nil))
	is.NoErr(s.Put("links", "a", []byte("other")))
	is.NoErr(s.Delete("jobs", "never there"))

	value, found, err := s.Get("jobs", "a")
	is.NoErr(err)
	is.True(found)
	is.Equal(string(value), "two")
	value[0] = 'X' // a copy: nobody else sees it
	is.Equal(all(t, s, "jobs"), map[string]string{"a": "two", "empty": ""})

	is.NoErr(s.Close())
	is.NoErr(s.Close())
	is.True(s.Put("jobs", "a", nil) != nil) // closed

	s = opened(t, path, options())
	is.Equal(s.Quarantined(), nil)
	is.Equal(all(t, s, "jobs"), map[string]string{"a": "two", "empty": ""})
	is.Equal(all(t, s, "links"), map[string]string{"a": "other"})
	info, err := os.Stat(path)
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), os.FileMode(0o600))
}

// Who reads leaves the file as it is.
func TestReadingChangesNothing(t *testing.T) {
	is := is.New(t)
	path := pathOf(t)
	s := opened(t, path, options())
	is.NoErr(s.Put("jobs", "a", []byte("one")))
	before, err := os.ReadFile(path)
	is.NoErr(err)
	_, _, err = s.Get("jobs", "a")
	is.NoErr(err)
	is.Equal(len(all(t, s, "jobs")), 1)
	after, err := os.ReadFile(path)
	is.NoErr(err)
	is.True(bytes.Equal(before, after))
}

func TestForEach(t *testing.T) {
	is := is.New(t)
	s := opened(t, pathOf(t), options())
	for _, key := range []string{"b/2", "a/1", "b/1", "b", "c"} {
		is.NoErr(s.Put("jobs", key, []byte(key)))
	}
	var got []string
	stop := errors.New("enough")
	is.NoErr(s.ForEach("jobs", "b", func(key string, value []byte) error {
		is.Equal(key, string(value))
		got = append(got, key)
		return nil
	}))
	is.Equal(got, []string{"b", "b/1", "b/2"}) // ordered, and of the prefix alone
	is.Equal(s.ForEach("jobs", "", func(string, []byte) error { return stop }), stop)
	err := s.Update(func(w *Transaction) error {
		return w.ForEach("jobs", "b", func(key string, _ []byte) error { return w.Delete("jobs", key) })
	})
	is.NoErr(err) // changing what is gone through is fine
	is.Equal(len(all(t, s, "jobs")), 2)
}

func TestTransactionsAreWhole(t *testing.T) {
	is := is.New(t)
	s := opened(t, pathOf(t), options())
	no := errors.New("no")
	is.Equal(s.Update(func(w *Transaction) error {
		is.NoErr(w.Put("jobs", "a", []byte("x")))
		_, found, err := w.Get("jobs", "a")
		is.NoErr(err)
		is.True(found) // sees its own
		return no
	}), no)
	is.Equal(all(t, s, "jobs"), map[string]string{})

	func() {
		defer func() { is.Equal(recover(), "caller's own") }() // a fault of the caller is not blamed on the file
		s.Update(func(w *Transaction) error {
			is.NoErr(w.Put("jobs", "a", []byte("x")))
			panic("caller's own")
		})
	}()
	is.Equal(all(t, s, "jobs"), map[string]string{})
	is.NoErr(s.Put("jobs", "b", nil)) // and the next one works

	var kept *Transaction
	is.NoErr(s.Update(func(w *Transaction) error { kept = w; return nil }))
	is.True(kept.Put("jobs", "late", nil) != nil)
}

func TestMisuse(t *testing.T) {
	is := is.New(t)
	s := opened(t, pathOf(t), options())
	is.True(errors.Is(s.Put("unknown", "a", nil), api.CodeInternal))
	is.True(errors.Is(s.Put("jobs", "", nil), api.CodeInternal))
	is.True(errors.Is(s.Put("jobs", strings.Repeat("k", MaxKeyBytes+1), nil), api.CodeInternal))
	is.True(errors.Is(s.Put("jobs", "a", make([]byte, MaxValueBytes+1)), api.CodeInternal))
	is.NoErr(s.Put("jobs", strings.Repeat("k", MaxKeyBytes), make([]byte, 1<<20)))
}

func TestSecondOpenNamesTheHolder(t *testing.T) {
	is := is.New(t)
	path := pathOf(t)
	s := opened(t, path, options())
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Open(over, path, options())
	is.True(errors.Is(err, api.ReasonAlreadyRunning))
	is.True(strings.Contains(err.Error(), fmt.Sprintf("process %d.", os.Getpid())))
	is.NoErr(s.Put("jobs", "a", nil)) // the first goes on
}

func TestVersions(t *testing.T) {
	is := is.New(t)
	path := pathOf(t)
	s := opened(t, path, options())
	is.NoErr(s.Put("jobs", "a", []byte("1")))
	is.NoErr(s.Put("links", "l", []byte("kept")))
	is.NoErr(s.Close())

	s = opened(t, path, Options{Buckets: []string{"jobs", "more"}})
	is.NoErr(s.Put("more", "m", nil))
	is.NoErr(s.Close())
	s = opened(t, path, options())
	is.Equal(all(t, s, "links"), map[string]string{"l": "kept"}) // kept by the version that did not know it
	is.NoErr(s.db.Update(func(tx *bolt.Tx) error {
		return tx.Bucket([]byte(schemaBucket)).Put([]byte(formatKey), seal(schemaBucket, formatKey, []byte("2")))
	}))
	is.NoErr(s.Close())

	_, err := Open(t.Context(), path, options())
	is.True(errors.Is(err, api.ReasonVersionSkew))
	is.True(errors.Is(err, api.CodeUnsupported))
	names, err := filepath.Glob(path + "*damaged*")
	is.NoErr(err)
	is.Equal(len(names), 0) // a newer file is not a damaged one
}

func TestSizeLimit(t *testing.T) {
	is := is.New(t)
	o := options()
	o.MaxBytes = 1 << 20
	s := opened(t, pathOf(t), o)
	is.NoErr(s.Put("jobs", "a", []byte("kept")))
	err := s.Put("jobs", "big", make([]byte, 2<<20))
	is.True(errors.Is(err, api.ReasonDiskFull))
	is.True(strings.Contains(err.Error(), "limits.database_bytes"))
	is.NoErr(s.Put("jobs", "b", []byte("small")))
	is.Equal(all(t, s, "jobs"), map[string]string{"a": "kept", "b": "small"})
}

func TestCompact(t *testing.T) {
	is := is.New(t)
	path := pathOf(t)
	s := opened(t, path, options())
	big := strings.Repeat("x", 4096)
	is.NoErr(s.Update(func(w *Transaction) error {
		for i := range 2000 {
			if err := w.Put("jobs", fmt.Sprint(i), []byte(big)); err != nil {
				return err
			}
		}
		return nil
	}))
	is.NoErr(s.Update(func(w *Transaction) error {
		for i := range 1999 {
			if err := w.Delete("jobs", fmt.Sprint(i)); err != nil {
				return err
			}
		}
		return nil
	}))
	size := func() int64 {
		info, err := os.Stat(path)
		is.NoErr(err)
		return info.Size()
	}
	before := size()
	is.True(before > 8<<20)
	is.NoErr(s.Close())
	s = opened(t, path, options())
	is.True(size() < 1<<20) // done by itself at the start
	is.Equal(all(t, s, "jobs"), map[string]string{"1999": big})

	is.NoErr(s.Put("links", "a", []byte("b")))
	is.NoErr(compacted(s))
	is.Equal(all(t, s, "links"), map[string]string{"a": "b"})
	is.NoErr(s.Put("links", "c", []byte("d"))) // the new file is in use
	is.NoErr(s.Close())
	s = opened(t, path, options())
	is.Equal(all(t, s, "links"), map[string]string{"a": "b", "c": "d"})
	is.Equal(s.Quarantined(), nil)
	is.NoErr(compacted(s))
}
