package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// Transaction is what the functions given to View and Update get. Values are copies:
// they stay good after it, and may be changed. Only that of Update writes.
type Transaction struct {
	store *Store
	tx    *bolt.Tx
}

// call guards one call into bbolt on a bucket that must have been declared.
func (t *Transaction) call(bucket, doing string, f func(b *bolt.Bucket) error) error {
	if !slices.Contains(t.store.options.Buckets, bucket) {
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

// Get returns a record, and whether there is one.
func (t *Transaction) Get(bucket, key string) (value []byte, found bool, err error) {
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

// ForEach calls f for every record whose key begins with prefix, in the order of the
// keys' bytes. It goes by keys, not by a cursor, so that f may change the bucket. An
// error of f ends it and is returned.
func (t *Transaction) ForEach(bucket, prefix string, f func(key string, value []byte) error) error {
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

// Put writes a record, new or not. The key has 1 to MaxKeyBytes bytes, the value at
// most MaxValueBytes.
func (t *Transaction) Put(bucket, key string, value []byte) error {
	if len(key) == 0 || len(key) > MaxKeyBytes || len(value) > MaxValueBytes {
		return misuse("a record of %d bytes under a key of %d", len(value), len(key))
	}
	return t.call(bucket, "write", func(b *bolt.Bucket) error {
		return b.Put([]byte(key), seal(bucket, key, value))
	})
}

// Delete removes a record; one that is not there is no error.
func (t *Transaction) Delete(bucket, key string) error {
	return t.call(bucket, "write", func(b *bolt.Bucket) error { return b.Delete([]byte(key)) })
}

// sumSize is what the checksum in front of every value takes.
const sumSize = 4

// seal puts a checksum over bucket, key and value in front of the value: bbolt
// has none for what it stores, and a flipped bit would pass for data.
func seal(bucket, key string, value []byte) []byte {
	out := make([]byte, sumSize, sumSize+len(value))
	binary.LittleEndian.PutUint32(out, sum([]byte(bucket), []byte(key), value))
	return append(out, value...)
}

// unseal returns the value inside the record, not copied, and whether it is the one
// that was sealed.
func unseal(bucket, key, record []byte) ([]byte, bool) {
	if len(record) < sumSize {
		return nil, false
	}
	value := record[sumSize:]
	return value, binary.LittleEndian.Uint32(record) == sum(bucket, key, value)
}

// sum is CRC-32C over all parts, the lengths of the names included, so that no
// two places have the same.
func sum(bucket, key, value []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	c := crc32.Update(0, table, []byte{byte(len(bucket)), byte(len(bucket) >> 8)})
	c = crc32.Update(c, table, bucket)
	c = crc32.Update(c, table, []byte{byte(len(key)), byte(len(key) >> 8)})
	c = crc32.Update(c, table, key)
	return crc32.Update(c, table, value)
}
