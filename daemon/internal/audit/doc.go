// Package audit keeps what others did on this node, or were refused: other nodes,
// and people of this Mac who acted for somebody else. It owns the record and reads
// nothing else; the record stays on this node and is no document.
//
// [Log.Record] takes a call from whoever decided on it. Calls that are the same and
// follow each other within [api.AuditRepeat] are one entry with a count. Space is
// bounded for each caller and in all, and room is made where there are most entries
// alike, so that a caller who floods the record pushes out its own calls of one kind,
// and never the newest of an outcome. What is dropped is counted.
//
// Entries are written to the database a moment later, several at once, by a goroutine
// of the clock: nobody who records a call waits for the disk.
package audit
