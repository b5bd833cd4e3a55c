package store

import (
	"bytes"
	"errors"

	bolt "go.etcd.io/bbolt"
)

// transaction is what the functions given to View and Update get.
type transaction struct {
	store *Store
	tx    *bolt.Tx
}

// call guards one call into bbolt on a bucket that must have been declared.
func (t *transaction) call(bucket, doing string, f func(b *bolt.Bucket) error) error {
	if _, ok := t.store.options.bucket(bucket); !ok {
		return misuse("the bucket %q was not declared", bucket)
	}
	return t.store.judge(guard(func() error {
		b := t.tx.Bucket([]byte(bucket))
		if b == nil {
			return errors.New("the transaction is over")
		}
		return f(b)
	}), doing)
}

// Get returns a copy of a record.
func (t *transaction) Get(bucket, key string) (value []byte, found bool, err error) {
	err = t.call(bucket, "read", func(b *bolt.Bucket) error {
		record := b.Get([]byte(key))
		if record == nil {
			return nil
		}
		inside, intact := unseal([]byte(bucket), []byte(key), record)
		if !intact {
			return corrupt(t.store.path, "the record "+key+" in "+bucket+" does not fit its checksum")
		}
		value, found = bytes.Clone(inside), true
		return nil
	})
	return value, found, err
}

// ForEach goes by keys, not by a cursor, so that f may change the bucket.
func (t *transaction) ForEach(bucket, prefix string, f func(key string, value []byte) error) error {
	next := []byte(prefix)
	for {
		var key string
		var value []byte
		found := false
		err := t.call(bucket, "read", func(b *bolt.Bucket) error {
			k, record := b.Cursor().Seek(next)
			if k == nil || !bytes.HasPrefix(k, []byte(prefix)) {
				return nil
			}
			inside, intact := unseal([]byte(bucket), k, record)
			if !intact {
				return corrupt(t.store.path, "the record "+string(k)+" in "+bucket+" does not fit its checksum")
			}
			key, value, found = string(k), bytes.Clone(inside), true
			return nil
		})
		if err != nil || !found {
			return err
		}
		if err := f(key, value); err != nil {
			return err
		}
		next = append([]byte(key), 0) // the first key after this one
	}
}

// Put writes a record.
func (t *transaction) Put(bucket, key string, value []byte) error {
	if len(key) == 0 || len(key) > MaxKeyBytes || len(value) > MaxValueBytes {
		return misuse("a record of %d bytes under a key of %d", len(value), len(key))
	}
	return t.call(bucket, "write", func(b *bolt.Bucket) error {
		return b.Put([]byte(key), seal(bucket, key, value))
	})
}

// Delete removes a record.
func (t *transaction) Delete(bucket, key string) error {
	return t.call(bucket, "write", func(b *bolt.Bucket) error { return b.Delete([]byte(key)) })
}
