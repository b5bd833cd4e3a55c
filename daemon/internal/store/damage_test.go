package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"
	bolt "go.etcd.io/bbolt"

	"fulmen/daemon/api"
	"fulmen/native/nativetest"
	"fulmen/native/nativetest/testkit"
)

// sample is a database with whatever bbolt has: inner pages, long values, a
// bucket that is part of another's page, free pages.
func sample(t testing.TB) []byte {
	t.Helper()
	path := pathOf(t)
	s := opened(t, path, options())
	err := s.Update(func(w *Transaction) error {
		for i := range 300 {
			if err := w.Put("jobs", fmt.Sprintf("job %03d", i), bytes.Repeat([]byte{byte(i)}, 60)); err != nil {
				return err
			}
		}
		return errors.Join(w.Put("jobs", "long", bytes.Repeat([]byte("long"), 3000)), w.Put("links", "one", []byte("small")))
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if err := s.Delete("jobs", fmt.Sprintf("job %03d", 50*i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// asides are the files that were set aside.
func asides(t testing.TB, path string) []string {
	t.Helper()
	names, err := filepath.Glob(path + ".damaged-*")
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestDamagedFileIsSetAside(t *testing.T) {
	good := sample(t)
	random := make([]byte, 50000)
	source := testkit.Fixed(t, 1).Source(0)
	for i := range random {
		random[i] = byte(source.Uint32())
	}
	circle := bytes.Clone(good)
	for page := range len(good) / os.Getpagesize() {
		if at := page * os.Getpagesize(); good[at+8] == branchFlag {
			binary.LittleEndian.PutUint64(circle[at+headerSize+8:], uint64(page))
		}
	}
	tests := map[string][]byte{
		"a page leads to itself": circle, // in which bbolt goes round until there is no memory left
		"random":                 random,
		"text":                   []byte("this is not a database, and the file of somebody\n"),
		"one byte":               {0},
		"zeroes":                 make([]byte, len(good)),
		"half":                   good[:len(good)/2],
		"one page":               good[:4096],
		"beginning overwritten":  append(make([]byte, 10000), good[10000:]...),
		"end overwritten":        append(bytes.Clone(good[:len(good)/2]), make([]byte, len(good)/2)...),
		"one bit of a value":     bytes.Replace(good, []byte("longlong"), []byte("longlonf"), 1),
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			path := pathOf(t)
			is.NoErr(os.WriteFile(path, text, 0o600))
			s := opened(t, path, options())
			is.True(s.Quarantined() != nil)
			is.Equal(asides(t, path), []string{s.Quarantined().Path})
			_, err := time.Parse("20060102T150405Z", strings.TrimPrefix(s.Quarantined().Path, path+".damaged-"))
			is.NoErr(err) // when, and nothing more where no other has the name
			kept, err := os.ReadFile(s.Quarantined().Path)
			is.NoErr(err)
			is.True(bytes.Equal(kept, text))                                               // not a byte is lost
			is.True(strings.Contains(s.Quarantined().Consequence(), s.Quarantined().Path)) // named
			is.True(strings.Contains(s.Quarantined().Consequence(), "no longer in a cluster"))
			is.NoErr(s.Put("jobs", "a", []byte("new")))
			is.NoErr(s.Close())
			s = opened(t, path, options())
			is.Equal(s.Quarantined(), nil) // said once
			is.Equal(all(t, s, "jobs"), map[string]string{"a": "new"})
		})
	}
}

// A record is sealed at its place: the same bytes at another one are damage.
func TestARecordIsOfItsPlace(t *testing.T) {
	is := is.New(t)
	record := seal("jobs", "key", []byte("value"))
	for _, c := range []struct {
		bucket, key string
		intact      bool
	}{{"jobs", "key", true}, {"kobs", "key", false}, {"links", "key", false}, {"jobs", "kex", false}, {"jobsk", "ey", false}, {"job", "skey", false}, {"jobs", "ke", false}} {
		value, intact := unseal([]byte(c.bucket), []byte(c.key), record)
		is.Equal(intact, c.intact)
		is.Equal(string(value), "value")
	}
	_, intact := unseal([]byte("jobs"), []byte("key"), record[:sumSize-1])
	is.True(!intact)
}

func TestSecondDamageKeepsTheFirst(t *testing.T) {
	is := is.New(t)
	path := pathOf(t)
	for i := range 3 {
		is.NoErr(os.WriteFile(path, fmt.Append(nil, "broken ", i), 0o600))
		is.NoErr(opened(t, path, options()).Close())
	}
	var kept []string
	for _, name := range asides(t, path) {
		text, err := os.ReadFile(name)
		is.NoErr(err)
		kept = append(kept, string(text))
	}
	is.Equal(len(kept), 3) // within the same second, too
	is.True(kept[0] != kept[1] && kept[1] != kept[2])
}

func TestForeignFilesAreSetAside(t *testing.T) {
	foreign := map[string]func(path string) error{
		"a folder": func(path string) error { return os.MkdirAll(filepath.Join(path, "inside"), 0o700) },
		"a link":   func(path string) error { return os.Symlink("elsewhere", path) },
		"another's": func(path string) error {
			db, err := bolt.Open(path, 0o600, nil)
			if err != nil {
				return err
			}
			return errors.Join(db.Update(func(tx *bolt.Tx) error {
				_, err := tx.CreateBucket([]byte("jobs"))
				return err
			}), db.Close())
		},
		"another's of the same names": func(path string) error {
			db, err := bolt.Open(path, 0o600, nil)
			if err != nil {
				return err
			}
			return errors.Join(db.Update(func(tx *bolt.Tx) error {
				for _, name := range [][2]string{{"jobs", formatKey}, {schemaBucket, "jobs"}} {
					b, err := tx.CreateBucket([]byte(name[0]))
					if err != nil {
						return err
					}
					if err := b.Put([]byte(name[1]), seal(name[0], name[1], []byte("1"))); err != nil {
						return err
					}
				}
				return nil
			}), db.Close())
		},
		"nested": func(path string) error {
			db, err := bolt.Open(path, 0o600, nil)
			if err != nil {
				return err
			}
			return errors.Join(db.Update(func(tx *bolt.Tx) error {
				b, err := tx.CreateBucket([]byte("jobs"))
				if err == nil {
					_, err = b.CreateBucket([]byte("more"))
				}
				return err
			}), db.Close())
		},
	}
	for name, make := range foreign {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			path := pathOf(t)
			is.NoErr(make(path))
			s := opened(t, path, options())
			is.True(s.Quarantined() != nil)
			_, err := os.Lstat(s.Quarantined().Path)
			is.NoErr(err)
			is.NoErr(s.Put("jobs", "a", nil))
		})
	}
}

func TestTornLastWriteIsNoDamage(t *testing.T) {
	is := is.New(t)
	good := sample(t)
	for page := range 2 { // the description that a power cut tore is one of two
		path := pathOf(t)
		torn := bytes.Clone(good)
		copy(torn[page*os.Getpagesize()+40:], make([]byte, 64))
		is.NoErr(os.WriteFile(path, torn, 0o600))
		s := opened(t, path, options())
		is.Equal(s.Quarantined(), nil)
		is.True(len(all(t, s, "jobs")) >= 296)
		is.NoErr(s.Put("jobs", "after", nil))
	}
}

func TestEmptyFileIsNoDatabase(t *testing.T) {
	is := is.New(t)
	path := pathOf(t)
	is.NoErr(os.WriteFile(path, nil, 0o600))
	s := opened(t, path, options())
	is.True(s.Quarantined() != nil) // Fulmen never leaves one: who emptied it should be known
	is.NoErr(s.Put("jobs", "a", nil))
}

func TestFileCutWhileInUse(t *testing.T) {
	is := is.New(t)
	path := pathOf(t)
	is.NoErr(os.WriteFile(path, sample(t), 0o600))
	s := opened(t, path, options())
	is.NoErr(os.Truncate(path, 0))
	err := s.ForEach("jobs", "", func(string, []byte) error { return nil })
	is.True(errors.Is(err, api.ReasonStateCorrupt)) // and the process lives
	is.True(errors.Is(s.Put("jobs", "a", nil), api.ReasonStateCorrupt))
	is.NoErr(s.Close())
	s = opened(t, path, options())
	is.NoErr(s.Put("jobs", "a", nil))
}

// TestFileCutAfterItHasGrown: what the last transaction added is missed too.
func TestFileCutAfterItHasGrown(t *testing.T) {
	is := is.New(t)
	path := pathOf(t)
	s := opened(t, path, options())
	size := func() int64 {
		info, err := os.Stat(path)
		is.NoErr(err)
		return info.Size()
	}
	for i, before := 0, size(); size() == before; i++ {
		is.NoErr(s.Put("jobs", fmt.Sprint(i), make([]byte, 1000)))
	}
	is.NoErr(os.Truncate(path, size()-1))
	_, _, err := s.Get("jobs", "0")
	is.True(errors.Is(err, api.ReasonStateCorrupt))
}

// A file of which the system tells no length was not cut off by that.
func TestFileWithoutALength(t *testing.T) {
	is := is.New(t)
	s := opened(t, pathOf(t), options())
	is.NoErr(s.Put("jobs", "a", []byte("1")))
	is.NoErr(s.file.Close())
	is.Equal(all(t, s, "jobs"), map[string]string{"a": "1"}) // it is mapped
}

// TestDamageWhileInUse cuts the file off, or overwrites some of it, while it is open:
// each answer is right or says in plain words that the database is damaged, the
// owner hears of that once, and the next start sets the file aside.
func TestDamageWhileInUse(t *testing.T) {
	good := sample(t)
	for name, test := range map[string]struct {
		isFixed bool
		damage  func(random *rand.Rand, file *os.File) error
	}{
		"cut in half":       {false, func(_ *rand.Rand, f *os.File) error { return f.Truncate(int64(len(good) / 2)) }},
		"cut off somewhere": {false, func(random *rand.Rand, f *os.File) error { return f.Truncate(random.Int64N(int64(len(good)) / 2)) }},
		"values overwritten": {false, func(random *rand.Rand, f *os.File) error {
			long := bytes.Index(good, []byte("longlong"))
			_, err := f.WriteAt([]byte{0xff}, int64(long+random.IntN(12000)))
			return err
		}},
		"pages overwritten": {true, func(random *rand.Rand, f *os.File) error {
			for range 20 {
				if _, err := f.WriteAt([]byte{byte(random.Uint32())}, 8192+random.Int64N(int64(len(good))-8192)); err != nil {
					return err
				}
			}
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			seed := testkit.Drawn
			if test.isFixed {
				seed = func(t testing.TB) testkit.Seed { return testkit.Fixed(t, 1) }
			}
			path := pathOf(t)
			is.NoErr(os.WriteFile(path, good, 0o600))
			var received []error
			o := options()
			o.OnDamage = func(err error) { received = append(received, err) }
			s := opened(t, path, o)
			file, err := os.OpenFile(path, os.O_RDWR, 0)
			is.NoErr(err)
			defer file.Close()
			is.NoErr(test.damage(seed(t).Source(0), file))
			found := s.View(func(*Transaction) error { return nil })
			is.Equal(found != nil, strings.HasPrefix(name, "cut")) // that the end is missing is found whatever is asked
			for i := range 300 {
				value, known, err := s.Get("jobs", fmt.Sprintf("job %03d", i))
				if err == nil && known {
					is.True(bytes.Equal(value, bytes.Repeat([]byte{byte(i)}, 60)))
				}
				found = errors.Join(found, err)
			}
			for _, call := range []func() error{
				func() error { _, _, err := s.Get("jobs", "long"); return err },
				func() error { return s.Put("links", "two", []byte("x")) },
				func() error { return s.ForEach("jobs", "", func(string, []byte) error { return nil }) },
			} {
				found = errors.Join(found, call())
			}
			is.True(errors.Is(found, api.ReasonStateCorrupt))
			is.Equal(len(received), 1)
			reported := api.AsError(received[0])
			is.True(strings.HasPrefix(reported.Message, "The database "+path+" is damaged: "))
			for _, word := range []string{"runtime error", "memory", "pointer", "page ", "panic"} {
				is.True(!strings.Contains(reported.Message, word)) // nothing of how a program broke
			}
			is.True(strings.Contains(reported.Data.Remedy, "fulmen status"))
			is.True(errors.Is(s.Put("jobs", "a", nil), api.ReasonStateCorrupt)) // and it is not used any more
			is.NoErr(s.Close())
			s = opened(t, path, options())
			is.True(s.Quarantined() != nil)
			is.NoErr(s.Put("jobs", "a", nil))
		})
	}
}

func TestFullDisk(t *testing.T) {
	is := is.New(t)
	disk := nativetest.SmallDisk(t, 1<<18)
	path := filepath.Join(disk, "state.db")
	ballast := filepath.Join(disk, "ballast")
	is.NoErr(os.WriteFile(ballast, make([]byte, leastRoom), 0o600))
	var reported []bool
	o := options()
	var s *Store
	o.OnFull = func() { reported = append(reported, s.IsFull()) }
	s = opened(t, path, o)
	acknowledged, err := 0, error(nil)
	for err == nil {
		if err = s.Put("jobs", fmt.Sprintf("%04d", acknowledged), bytes.Repeat([]byte("x"), 3000)); err == nil {
			acknowledged++
		}
	}
	is.True(errors.Is(err, api.ReasonDiskFull))
	is.True(acknowledged > 5)
	is.Equal(len(all(t, s, "jobs")), acknowledged)
	is.NoErr(compacted(s))             // there is no room for a second file, and the first stays
	is.NoErr(s.Delete("jobs", "0000")) // making room is possible
	is.NoErr(s.Put("jobs", "after", nil))
	is.Equal(reported, []bool{true}) // a small write says nothing of the disk
	is.NoErr(os.Remove(ballast))
	is.NoErr(s.Put("jobs", "again", nil))
	is.NoErr(s.Delete("jobs", "again"))
	is.Equal(reported, []bool{true, false}) // each once
	is.NoErr(s.Close())
	s = opened(t, path, options())
	is.Equal(s.Quarantined(), nil)
	is.Equal(len(all(t, s, "jobs")), acknowledged)
}

func TestNewDatabaseOnFullDisk(t *testing.T) {
	is := is.New(t)
	disk := nativetest.SmallDisk(t, 1<<14)
	path := filepath.Join(disk, "state.db")
	_, err := Open(t.Context(), path, options())
	is.True(errors.Is(err, api.ReasonDiskFull))
	_, err = os.Stat(path)
	is.True(errors.Is(err, os.ErrNotExist)) // not half of one
}

func TestReadOnlyDisk(t *testing.T) {
	is := is.New(t)
	disk := nativetest.SmallDisk(t, 1<<20)
	path := filepath.Join(disk, "state.db")
	is.NoErr(opened(t, path, options()).Close())
	nativetest.MakeReadOnly(t, disk)
	_, err := Open(t.Context(), path, options())
	is.True(errors.Is(err, api.ReasonStateReadOnly))
	is.Equal(asides(t, path), nil)
}

// Where bbolt panics while it takes a transaction back, nobody waits for it for ever:
// neither who has the next transaction, nor Close.
func TestDamageBesideOthers(t *testing.T) {
	is := is.New(t)
	path := pathOf(t)
	is.NoErr(os.WriteFile(path, sample(t), 0o600))
	s := opened(t, path, options())
	var others sync.WaitGroup
	enough := errors.New("enough")
	err := s.Update(func(w *Transaction) error {
		for i := range 4 {
			begun := make(chan struct{})
			others.Go(func() {
				close(begun)
				for s.Put("links", fmt.Sprint(i), []byte("x")) == nil {
				}
			})
			<-begun
		}
		return errors.Join(w.Put("jobs", "a", nil), os.Truncate(path, 0), enough)
	})
	is.True(errors.Is(err, enough))
	over := make(chan error, 1)
	go func() {
		others.Wait()
		over <- s.Close()
	}()
	select {
	case err := <-over:
		is.NoErr(err)
	case <-time.After(time.Minute):
		t.Fatal("one transaction still waits for another")
	}
}

// A file of which only free pages were cut off is whole at the next start, in the same
// process too, where the earlier pages are still mapped.
func TestFreePagesCutOff(t *testing.T) {
	is := is.New(t)
	path := pathOf(t)
	s := opened(t, path, options())
	is.NoErr(s.Put("jobs", "large", make([]byte, 1<<20)))
	is.NoErr(s.Delete("jobs", "large"))
	is.NoErr(s.Put("jobs", "a", []byte("1")))
	info, err := os.Stat(path)
	is.NoErr(err)
	is.NoErr(os.Truncate(path, info.Size()-4096))
	is.True(errors.Is(s.Put("jobs", "b", nil), api.ReasonStateCorrupt))
	is.NoErr(s.Close())
	s = opened(t, path, options())
	is.Equal(s.Quarantined(), nil)
	is.Equal(all(t, s, "jobs"), map[string]string{"a": "1"})
	is.NoErr(s.Put("jobs", "b", nil))
}
