// Package pace decides when something is measured again by itself, and how much.
// It holds rules only: it does no I/O and takes no clock. The same state gives the
// same answer, however often it is asked and after whatever restart.
package pace
