// Package history keeps what was measured earlier: a bounded list of results,
// the best and the median of each number, and whether a path has got worse than
// it was. It holds rules only: it does no I/O and takes no clock.
package history
