package store

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	bolt "go.etcd.io/bbolt"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/home"
	"fulmen/native"
)

// Store is an open database. Its methods may be called by many goroutines.
// Each of Get, Put, Delete and ForEach on it is a transaction of its own.
//
// A function given to View, Update or ForEach must not call the Store's own
// methods: it would wait for itself.
type Store struct {
	path    string
	options Options
	aside   *Quarantined
	lock    *home.Lock

	// use is held in a transaction, and where the file is exchanged. Transactions wait
	// here for each other, not in bbolt, which forgets its locks where it panics.
	use sync.Mutex
	db  *bolt.DB
	// file is bbolt's, to let go of it where bbolt itself cannot any more.
	file *os.File

	// longest is how long the file was, guarded by use; bbolt never makes it shorter.
	longest int64

	// isFull says that a write found no room, and that there is none still.
	isFull atomic.Bool

	mu     sync.Mutex
	broken error // why the database is not used any more
}

// View reads in one transaction: what f sees is of one moment.
func (s *Store) View(f func(*Transaction) error) error { return s.transact(false, f) }

// Update writes in one transaction. If f returns nil, all it did is on the disk
// when Update returns nil; otherwise, and if the process dies, none of it is.
// Writers wait for each other.
func (s *Store) Update(f func(*Transaction) error) error {
	err := s.transact(true, f)
	if isFull := errors.Is(err, api.ReasonDiskFull); isFull || err == nil && (!s.isFull.Load() || s.hasRoom()) {
		if s.isFull.Swap(isFull) != isFull && s.options.OnFull != nil {
			s.options.OnFull()
		}
	}
	return err
}

// IsFull reports whether a write found no room on the disk, and there is none still.
func (s *Store) IsFull() bool { return s.isFull.Load() }

// leastRoom is the room on the disk from which the database counts as able to grow again.
const leastRoom = 64 << 10

// hasRoom reports whether the disk has room again. A small write may have found its room in
// the file itself.
func (s *Store) hasRoom() bool {
	free, err := native.FreeBytes(s.path)
	return err != nil || free >= leastRoom
}

// Get returns a record, and whether there is one.
func (s *Store) Get(bucket, key string) (value []byte, found bool, err error) {
	err = s.View(func(t *Transaction) error {
		value, found, err = t.Get(bucket, key)
		return err
	})
	return value, found, err
}

// ForEach calls f for every record whose key begins with prefix.
func (s *Store) ForEach(bucket, prefix string, f func(key string, value []byte) error) error {
	return s.View(func(t *Transaction) error { return t.ForEach(bucket, prefix, f) })
}

// Put writes a record.
func (s *Store) Put(bucket, key string, value []byte) error {
	return s.Update(func(t *Transaction) error { return t.Put(bucket, key, value) })
}

// Delete removes a record.
func (s *Store) Delete(bucket, key string) error {
	return s.Update(func(t *Transaction) error { return t.Delete(bucket, key) })
}

// Close waits for transactions, and lets go of the file. A second Close does
// nothing.
func (s *Store) Close() error {
	s.use.Lock()
	defer s.use.Unlock()
	if s.db == nil {
		return nil
	}
	err := s.closeFile()
	s.db = nil
	return errors.Join(err, s.lock.Release())
}

// closeFile closes the database; one in which bbolt panicked is only let go of,
// because bbolt's own Close may wait for a lock that the panic left locked.
func (s *Store) closeFile() error {
	if s.failure() != nil {
		// What is mapped stays so, and with it the lock.
		return errors.Join(syscall.Flock(int(s.file.Fd()), syscall.LOCK_UN), s.file.Close())
	}
	return guard(s.db.Close)
}

func (s *Store) transact(writable bool, f func(*Transaction) error) error {
	s.use.Lock()
	defer s.use.Unlock()
	if err := s.failure(); err != nil {
		return err
	}
	if s.db == nil {
		return misuse("the database is closed")
	}
	if s.isCutLocked() { // a panic inside Begin leaves its locks locked
		return s.fail(corrupt(s.path, "its end is missing"))
	}
	var tx *bolt.Tx
	err := guard(func() (err error) {
		tx, err = s.db.Begin(writable)
		return err
	})
	if err != nil {
		return s.judge(err, "read")
	}
	// After a commit this does nothing. It also runs when f panics.
	defer func() {
		if s.failure() == nil {
			_ = s.judge(guard(tx.Rollback), "read")
		}
	}()
	if err := f(&Transaction{store: s, tx: tx}); err != nil || !writable {
		return err
	}
	// What f saw broken is not committed, even if f took no notice.
	if err := s.failure(); err != nil {
		return err
	}
	if err := guard(tx.Commit); err != nil {
		if !harmless(err) {
			return s.fail(s.judge(err, "write"))
		}
		return s.explain(err, "write")
	}
	_ = s.isCutLocked() // it may have grown; whether it was cut meanwhile, the next transaction says
	return nil
}

// judge makes an error of bbolt fit for a person; after a panic the database is
// not used any more.
func (s *Store) judge(err error, doing string) error {
	if p, ok := errors.AsType[*panicked](err); ok {
		return s.fail(fmt.Errorf("%w [%w]", corrupt(s.path, unreadable), p))
	}
	if known, ok := errors.AsType[*api.Error](err); ok && known.Data.Reason == api.ReasonStateCorrupt {
		return s.fail(err)
	}
	return s.explain(err, doing)
}

// fail has all later transactions refused with the first failure.
func (s *Store) fail(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return err
	}
	if s.broken = err; s.options.OnDamage != nil && errors.Is(err, api.ReasonStateCorrupt) {
		s.options.OnDamage(err)
	}
	return err
}

// isCutLocked reports whether the file is shorter than it was: bbolt itself finds that out
// only at a page that is missing. The caller holds use.
func (s *Store) isCutLocked() bool {
	info, err := s.file.Stat()
	if err != nil {
		return false
	}
	s.longest = max(s.longest, info.Size())
	return info.Size() < s.longest
}

func (s *Store) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

const (
	// MaxKeyBytes is the longest key of a record.
	MaxKeyBytes = 1 << 10
	// MaxValueBytes is the longest value of a record.
	MaxValueBytes = 16 << 20
)
