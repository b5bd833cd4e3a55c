// Package look is the program of `fulmen-shim look`: a short-lived process that the
// daemon starts as the account of a job, so that everything which touches a path
// that a person gave does so with that account's rights and not with the
// daemon's. It reads one [Request] from its standard input and writes one
// [Answer] to its standard output, both a line of JSON, read strictly.
//
// It finds a program (directory, interpreter, Python environment, versions by
// their metadata, free disk), reads the environment that the account's login
// shell makes, or runs the command that prepares a node.
//
// Its standard input stays open as long as its answer is wanted. When it ends,
// or the deadline passes, the process kills its group with itself, so that a
// daemon that was killed leaves nothing behind.
package look
