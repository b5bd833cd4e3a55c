// Package phase holds the rules of a job's life. [Next] takes the state of one
// job on one node and something that happened, and gives the new state and what
// is to be done about it. It does no I/O and takes no clock: a deadline is a
// timer that the caller keeps and reports by its id, and times are arguments.
//
// Exactly one node acts for a job, its home. Every other node follows: it knows
// the job's document and, should the home be gone, takes the job over under a
// higher epoch. Three rules keep two copies from running side by side:
//
//   - A home renews the leases of an attempt only while every node of the attempt
//     answers, and starts attempt n+1 only when each rank of n is known to have
//     ended or cannot have outlived its lease.
//   - A majority takes a started attempt over only with a witness: a node of that
//     attempt that it reaches. The witness, once told the new epoch, refuses the
//     former home, which then renews nobody. An attempt of which no node is in
//     sight may be whole and well elsewhere, and is left to it.
//   - A home starts an attempt only when so many members hold the document with it
//     that whoever takes the job over learns of it, and a former home's attempt
//     that its successor did not know is ended first. A majority counts among all
//     members; those that cannot know the job do not.
//
// What the caller owes: it carries effects out in their order, [PutDocument]
// durably before what follows it; a node that has acknowledged the end of an
// attempt's ranks, or reported one ended, never starts that rank later; and a
// node reports as ended only what it knows to have ended.
package phase
