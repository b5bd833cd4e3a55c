package store

import (
	"strconv"

	bolt "go.etcd.io/bbolt"
)

const (
	// schemaBucket has a record for every bucket, its version in decimal, and
	// one for the file itself. It is what tells a database of Fulmen's from others.
	schemaBucket = "_schema"
	// formatKey is the record of the file itself.
	formatKey = "_format"
	// format is the version of what this package does: the checksums, this bucket.
	format = 1
)

// prepare makes the buckets that are missing and brings those of older versions
// up to date, all in one transaction.
func (s *Store) prepare(t *bolt.Tx) error {
	schema, err := t.CreateBucketIfNotExists([]byte(schemaBucket))
	if err != nil {
		return err
	}
	if err := s.raise(schema, formatKey, format, nil); err != nil {
		return err
	}
	for _, b := range s.options.Buckets {
		if _, err := t.CreateBucketIfNotExists([]byte(b.Name)); err != nil {
			return err
		}
		var migrate func(from int) error
		if b.Migrate != nil {
			migrate = func(from int) error { return b.Migrate(&transaction{store: s, tx: t}, from) }
		}
		if err := s.raise(schema, b.Name, b.Version, migrate); err != nil {
			return err
		}
	}
	return nil
}

// raise compares the version that a record names with the wanted one, and
// writes that after migrate has done its work. A missing record is new.
func (s *Store) raise(schema *bolt.Bucket, name string, want int, migrate func(from int) error) error {
	has := 0
	if record := schema.Get([]byte(name)); record != nil {
		value, intact := unseal([]byte(schemaBucket), []byte(name), record)
		n, err := strconv.Atoi(string(value))
		if !intact || err != nil {
			return corrupt(s.path, "the version of "+name+" is unreadable")
		}
		has = n
	}
	switch {
	case has > want:
		return newer(s.path, name, has, want)
	case has == want:
		return nil
	case has != 0 && migrate != nil:
		if err := migrate(has); err != nil {
			return err
		}
	}
	return schema.Put([]byte(name), seal(schemaBucket, name, []byte(strconv.Itoa(want))))
}
