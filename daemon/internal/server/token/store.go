package token

// Store keeps records over a restart. A call returns when the change is on disk.
type Store interface {
	// LoadTokens reads all records, in any order.
	LoadTokens() ([]Record, error)
	// SaveToken writes a record, in place of the one with the same hash.
	SaveToken(Record) error
	// DeleteToken removes the record with a hash; one that is not there is no error.
	DeleteToken(sha256 string) error
}
