package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
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
