package store

import (
	"errors"

	bolt "go.etcd.io/bbolt"

	"fulmen/daemon/internal/home"
)

const (
	// wasteBytes and wasteShare: a file is compacted at the start if both this
	// much of it, and this part, is unused.
	wasteBytes = 1 << 20
	wasteShare = 0.5
	// compactStep bounds the memory that compacting takes, in bytes of records.
	compactStep = 1 << 20
)

// wasteful reports whether compacting is worth the while.
func (s *Store) wasteful() bool {
	info, err := s.file.Stat()
	if err != nil {
		return false
	}
	free := float64(s.db.Stats().FreePageN) * float64(s.db.Info().PageSize)
	return free >= wasteBytes && free >= wasteShare*float64(info.Size())
}

// compact exchanges the file for a small one, without the room that deleted records
// left. Failing to write that is no error: the database is as it was.
func (s *Store) compact() error {
	part := s.path + newSuffix
	if err := s.copyTo(part); err != nil {
		err = errors.Join(s.judge(err, "compact"), home.Remove(part))
		if s.failure() != nil {
			return err
		}
		return nil
	}
	if err := s.closeFile(); err != nil {
		return s.fail(s.judge(err, "close"))
	}
	renamed := home.Rename(part, s.path)
	// Whichever of the two files has the name now is whole.
	if err := s.load(); err != nil {
		return s.fail(err)
	}
	return home.Explain(renamed, "compact", s.path)
}

func (s *Store) copyTo(path string) error {
	return guard(func() error {
		to, err := bolt.Open(path, fileMode, &bolt.Options{Timeout: boltWait, NoSync: true, FreelistType: bolt.FreelistMapType})
		if err != nil {
			return err
		}
		return errors.Join(bolt.Compact(to, s.db, compactStep), to.Sync(), to.Close())
	})
}
