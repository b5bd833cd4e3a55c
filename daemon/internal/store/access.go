package store

// Reader reads records. Values are copies: they stay good after the
// transaction, and may be changed.
type Reader interface {
	// Get returns a record, and whether there is one.
	Get(bucket, key string) (value []byte, found bool, err error)
	// ForEach calls f for every record whose key begins with prefix, in the
	// order of the keys' bytes. An error of f ends it and is returned.
	ForEach(bucket, prefix string, f func(key string, value []byte) error) error
}

// Writer also changes records.
type Writer interface {
	Reader
	// Put writes a record, new or not. The key has 1 to MaxKeyBytes bytes, the
	// value at most MaxValueBytes.
	Put(bucket, key string, value []byte) error
	// Delete removes a record; one that is not there is no error.
	Delete(bucket, key string) error
}

const (
	// MaxKeyBytes is the longest key of a record.
	MaxKeyBytes = 1 << 10
	// MaxValueBytes is the longest value of a record.
	MaxValueBytes = 16 << 20
)
