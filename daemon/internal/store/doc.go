// Package store keeps what must outlive the daemon: jobs, measurements, the
// roster. It is a few named buckets of opaque records in one bbolt file, behind
// an interface small enough to be done again otherwise.
//
//	s, err := store.Open(ctx, folders.DatabaseFile(), store.Options{Buckets: ...})
//	err = s.Update(func(t *store.Transaction) error { return t.Put("jobs", id, record) })
//
// One transaction is one fact that must be whole, such as a job's step from one
// phase to the next; it is on the disk when Update returns, and each one costs
// an fsync. What moves all the time (metrics) has no place here.
//
// A file that is damaged, or is no database of Fulmen's, is set aside under
// another name and never removed; a new one takes its place, and [Store.Aside]
// says so. Before bbolt writes to a file, the numbers by which its pages lead
// to each other are followed, and every record's checksum is read. Where bbolt, which
// trusts its file blindly, stumbles all the same, the call ends with an error and not
// the process, and all later calls are refused with it.
package store
