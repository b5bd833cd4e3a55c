// Package ledger owns the documents that this node holds: its own, which only
// its Writer can change, and those of other members, which only their writers'
// signatures can change.
//
// Readers get records: immutable, shared, encoded at most once however many
// clients they go to. Watch gives a snapshot and what changes after it as one
// step, numbered without a gap. Nothing that a reader does or fails to do makes
// a writer wait: each watcher has a queue of its own that holds the latest value
// of each key, and one that falls behind by more keys than its bound is told
// once that it lagged and is ended. A change is handed over at once, whatever
// its kind; where a reader is behind, it is given notable changes before those
// of live kinds, which move all the time.
//
// Locks are taken in this order: saving, author.era, author.mu, Ledger.mu,
// Watcher.mu. Nothing is read from or written to a store under Ledger.mu, and
// no function of another package is called there; notices are sends to buffered
// channels that never block.
package ledger
