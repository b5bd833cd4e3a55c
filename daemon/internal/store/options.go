package store

import "strings"

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
