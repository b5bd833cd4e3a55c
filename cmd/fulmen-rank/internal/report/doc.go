// Package report carries what the worker has to say: as messages of the
// worker's protocol on descriptor 3 where somebody opened it for that, or on
// standard output where that is asked for, else for a person, progress on
// standard error and the result on standard output.
package report
