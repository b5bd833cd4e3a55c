package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/home"
	"fulmen/daemon/internal/store/pages"
)

const (
	// lockSuffix and the database's name are the file that says which process
	// has it; bbolt's own lock cannot tell.
	lockSuffix = ".lock"
	// newSuffix and the database's name are a file that is not complete yet.
	newSuffix = ".new"
	fileMode  = 0o600
	// boltWait bounds the wait for bbolt's own lock, which only other programs take.
	boltWait = time.Second
)

// Open opens the database, or makes it. It waits as long as ctx lasts for
// another process that has it; the error then names that process.
//
// A file that is damaged or not Fulmen's is set aside, see [Store.Aside]. A file
// that could not be read, or that a newer version has changed, is left alone
// and is an error.
func Open(ctx context.Context, path string, options Options) (*Store, error) {
	options.MaxBytes = cmp.Or(options.MaxBytes, DefaultMaxBytes)
	if err := options.check(); err != nil {
		return nil, err
	}
	lock, err := home.WaitLock(ctx, path+lockSuffix)
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, options: options, lock: lock}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	return s, nil
}

// Path is the file.
func (s *Store) Path() string { return s.path }

// Aside is the damaged file that was found in place of the database; nil if
// there was none.
func (s *Store) Aside() *Aside { return s.aside }

func (s *Store) open() error {
	// What a process left that was killed while it made or compacted the database.
	if err := os.Remove(s.path + newSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return home.Explain(err, "remove", s.path+newSuffix)
	}
	err := examine(s.path, s.options.MaxBytes)
	if damage, ok := errors.AsType[*pages.Damage](err); ok {
		if s.aside, err = setAside(s.path, damage.Error()); err != nil {
			return err
		}
		err = fs.ErrNotExist
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = s.create()
	}
	if err != nil {
		return err
	}
	if err := s.load(); err != nil {
		return err
	}
	if s.wasteful() {
		// Not being able to compact is no reason not to run.
		return s.compact(false)
	}
	return nil
}

// examine reads the whole file. It returns a Damage if it cannot be used, and
// an error with fs.ErrNotExist if there is none.
func examine(path string, maxBytes int64) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err != nil {
		return home.Explain(err, "examine", path)
	}
	if !info.Mode().IsRegular() {
		return &pages.Damage{Problem: "it is no plain file"}
	}
	if info.Size() > maxBytes {
		e := api.Errorf(api.ReasonDiskFull, path, "The database %s has %d bytes, more than its limit of %d.", path, info.Size(), maxBytes)
		e.Data.Remedy = "Raise limits.database_bytes."
		return e
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return home.Explain(err, "open", path)
	}
	defer file.Close()
	ours := false
	err = pages.Check(file, info.Size(), func(bucket, key, record []byte) error {
		if _, intact := unseal(bucket, key, record); !intact {
			return &pages.Damage{Problem: fmt.Sprintf("the record %q in %q does not fit its checksum", key, bucket)}
		}
		ours = ours || string(bucket) == schemaBucket && string(key) == formatKey
		return nil
	})
	if err == nil && !ours {
		return &pages.Damage{Problem: "it was not made by Fulmen"}
	}
	if _, ok := errors.AsType[*pages.Damage](err); ok {
		return err
	}
	return home.Explain(err, "read", path)
}

// create makes an empty database under another name and renames it, so that
// there never is half a one.
func (s *Store) create() error {
	part := &Store{path: s.path + newSuffix, options: s.options}
	if err := part.load(); err != nil {
		return errors.Join(err, ignoreMissing(os.Remove(part.path)))
	}
	if err := part.closeFile(); err != nil {
		return home.Explain(err, "write", part.path)
	}
	return home.Explain(home.Rename(part.path, s.path), "make", s.path)
}

// load has bbolt open the file, and brings it up to date.
func (s *Store) load() error {
	err := guard(func() (err error) {
		s.db, err = bolt.Open(s.path, fileMode, &bolt.Options{
			Timeout: boltWait, MaxSize: int(s.options.MaxBytes), FreelistType: bolt.FreelistMapType,
			OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
				file, err := os.OpenFile(name, flag|syscall.O_NOFOLLOW, mode)
				s.file = file
				return file, err
			},
		})
		return err
	})
	if err != nil {
		if s.file != nil {
			s.file.Close() // a panic left it open
		}
		return s.judge(err, "open")
	}
	var tx *bolt.Tx
	err = guard(func() (err error) {
		tx, err = s.db.Begin(true)
		return err
	})
	if err == nil {
		if err = s.prepare(tx); err == nil {
			err = guard(tx.Commit)
		}
		_ = guard(tx.Rollback) // nothing after a commit
	}
	if err != nil {
		err = s.judge(err, "write")
		return errors.Join(err, s.closeFile())
	}
	s.longest = 0 // it may be of another file, before it was compacted
	s.isCut()
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Aside says that the file that was there could not be used, and where it is now.
type Aside struct {
	// Path is its new name, in the same folder.
	Path string
	// Problem is what was wrong with it, one clause.
	Problem string
	// At is when it was set aside.
	At time.Time
}

// Says is what it means for a person, in a clause.
func (a *Aside) Says() string {
	return a.Problem + "; it is kept as " + a.Path + ". This Mac is in no cluster any more, and does not know its jobs, its measurements and what it lends"
}

// setAside gives the file a name that nothing has. Whoever calls it holds the lock.
func setAside(path, problem string) (*Aside, error) {
	now := time.Now()
	stamp := path + ".damaged-" + now.UTC().Format("20060102T150405Z")
	for i := 1; ; i++ {
		to := stamp
		if i > 1 {
			to = fmt.Sprintf("%s-%d", stamp, i)
		}
		if _, err := os.Lstat(to); err == nil {
			continue
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, home.Explain(err, "examine", to)
		}
		if err := home.Rename(path, to); err != nil {
			return nil, home.Explain(err, "set aside the damaged database", path)
		}
		return &Aside{Path: to, Problem: problem, At: now}, nil
	}
}

// Bucket declares a bucket. Its owner raises Version when it reads the records
// in another way than before.
type Bucket struct {
	// Name is a lower-case word; names that begin with an underscore are the store's own.
	Name string
	// Version is that of the records, from 1.
	Version int
	// Migrate changes the records of an older version, in the transaction that
	// opens the database; nil where nothing has to be changed. It may use other
	// buckets too.
	Migrate func(w Writer, from int) error
}

// Options are what a database is opened with.
type Options struct {
	// Buckets are all that will be used. Others that the file has, from a newer
	// version, are kept.
	Buckets []Bucket
	// OnDamage hears once that the file was found damaged while in use: from then on
	// every call is refused. It must return at once; nil = nobody does.
	OnDamage func(error)
	// OnFull hears when what IsFull says is another than before. It must return at once;
	// nil = nobody does.
	OnFull func()
	// MaxBytes is the size that the file may reach; 0 is DefaultMaxBytes.
	MaxBytes int64
}

// DefaultMaxBytes is the largest size of a database, if nothing else is said.
// It also bounds how long the check at the start can take.
const DefaultMaxBytes = 1 << 30

func (o Options) bucket(name string) (Bucket, bool) {
	for _, b := range o.Buckets {
		if b.Name == name {
			return b, true
		}
	}
	return Bucket{}, false
}

func (o Options) check() error {
	seen := map[string]bool{}
	for _, b := range o.Buckets {
		if b.Name == "" || strings.HasPrefix(b.Name, "_") || b.Version < 1 || seen[b.Name] {
			return misuse("the bucket %q, version %d, is declared wrongly or twice", b.Name, b.Version)
		}
		seen[b.Name] = true
	}
	return nil
}
