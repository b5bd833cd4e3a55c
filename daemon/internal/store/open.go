package store

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"

	"fulmen/daemon/internal/home"
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
// A file that is damaged or not Fulmen's is set aside, see [Store.Quarantined]. A file
// that could not be read, or that a newer version has changed, is left alone
// and is an error.
func Open(ctx context.Context, path string, options Options) (*Store, error) {
	options.MaxBytes = cmp.Or(options.MaxBytes, DefaultMaxBytes)
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

// Quarantined is the damaged file that was found in place of the database; nil if
// there was none.
func (s *Store) Quarantined() *Quarantined { return s.aside }

func (s *Store) open() error {
	// What a process left that was killed while it made or compacted the database.
	if err := home.Remove(s.path + newSuffix); err != nil {
		return err
	}
	err := examine(s.path, s.options.MaxBytes)
	if damage, ok := errors.AsType[damage](err); ok {
		if s.aside, err = quarantine(s.path, damage.Error()); err != nil {
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
		return s.compact()
	}
	return nil
}

// create makes an empty database under another name and renames it, so that
// there never is half a one.
func (s *Store) create() error {
	part := &Store{path: s.path + newSuffix, options: s.options}
	if err := part.load(); err != nil {
		return errors.Join(err, home.Remove(part.path))
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
	s.isCutLocked()
	return nil
}

// Quarantined says that the file that was there could not be used, and where it is now.
type Quarantined struct {
	// Path is its new name, in the same folder.
	Path string
	// Problem is what was wrong with it, one clause.
	Problem string
	// At is when it was set aside.
	At time.Time
}

// Consequence is what it means for a person, in a clause.
func (a *Quarantined) Consequence() string {
	return a.Problem + "; it is kept as " + a.Path + ". This Mac is no longer in a cluster, and has lost its jobs, its measurements and what it was set to lend"
}

// quarantine gives the file a name that nothing has. Whoever calls it holds the lock.
func quarantine(path, problem string) (*Quarantined, error) {
	now := time.Now()
	to, err := home.SetAside(path, path+".damaged-"+now.UTC().Format("20060102T150405Z"))
	return &Quarantined{Path: to, Problem: problem, At: now}, err
}

// Options are what a database is opened with.
type Options struct {
	// Buckets are all that will be used. Others that the file has, from a newer
	// version, are kept. Names that begin with an underscore are the store's own.
	Buckets []string
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

const (
	// schemaBucket has a record for the file itself. It is what tells a database of
	// Fulmen's from others.
	schemaBucket = "_schema"
	// formatKey is that record, and format the version that it has in decimal: of what
	// this package does, the checksums and this bucket, and of what the records are.
	formatKey = "_format"
	format    = 1
)

// prepare makes the buckets that are missing, and refuses a file of a newer format.
func (s *Store) prepare(t *bolt.Tx) error {
	for _, name := range append([]string{schemaBucket}, s.options.Buckets...) {
		if _, err := t.CreateBucketIfNotExists([]byte(name)); err != nil {
			return err
		}
	}
	schema := t.Bucket([]byte(schemaBucket))
	record := schema.Get([]byte(formatKey))
	if record == nil {
		return schema.Put([]byte(formatKey), seal(schemaBucket, formatKey, []byte(strconv.Itoa(format))))
	}
	value, intact := unseal([]byte(schemaBucket), []byte(formatKey), record)
	has, err := strconv.Atoi(string(value))
	switch {
	case !intact || err != nil:
		return corrupt(s.path, "its version is unreadable")
	case has > format:
		return newer(s.path, has)
	}
	return nil
}
