// Package replica owns how documents and the roster get from one member to the
// others. It reads the ledger and the roster, writes what other members' keys
// have signed, and publishes nothing of its own.
//
// Three ways, each mending what the one before may miss:
//
//   - A document goes from its writer at once to every member that it has a path
//     to. The message names the members that it has no path to; whoever has one
//     passes the document on, to three of them at random, and compares digests
//     with the rest a moment later, unless they have a path by then. Where all reach all nobody passes anything on;
//     where A reaches B and B reaches C, C hears of A at once.
//   - Neighbours that meet, or that may have missed something because a path
//     broke, compare digests: one hash first, then versions of what the two have
//     written, and give each other what is newer. What others have written is taken by
//     who lacks it and has no path to its writer; who has one leaves it to the writer for
//     ten seconds, and asks then only for what has not come. A neighbour that lacks some
//     of that, of a writer to which neither says that there is a path, is told to ask. Who
//     learns something that way compares with three of its other neighbours, and later with
//     the rest, of those between which and its writer neither says that there is a path.
//   - Every minute each node compares with one neighbour at random. Nothing else
//     is sent while nothing changes.
//
// Large documents are offered and pulled. Documents of live kinds move by
// subscription, one for each pair of daemons, while somebody here watches them.
//
// Each neighbour has an outbox with the latest version of each key, and a
// goroutine only while something is in it. Where an outbox overflows or a call
// fails it is emptied, and a digest finds later what was in it.
//
// Replica.mu is taken last: neither the ledger nor a call is entered under it.
package replica
