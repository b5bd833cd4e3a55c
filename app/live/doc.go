// Package live follows a daemon and keeps the state of package app up to date,
// over the public API alone: it reconnects, takes new snapshots, and says when
// the daemon is gone. What moves only while somebody watches is watched only
// while the menu is read, or while a number of it stands beside the icon.
//
// A Follower owns what is known of the daemon: documents, lists and the code that is
// shown. It reads them over one connection, and publishes them as a whole by State;
// Options.Changed is called when that may have become different.
package live
