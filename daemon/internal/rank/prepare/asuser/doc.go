// Package asuser starts `fulmen-shim look` as an account and takes its answer. It is
// the daemon's only way to a path that a person gave: the process becomes the
// account before it executes anything, is the leader of a session of its own,
// and is killed with its group when its answer is complete, its deadline has
// passed or nobody wants it any more.
package asuser
