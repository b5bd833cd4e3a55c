// Package files copies the folder of a job from the node where it was submitted
// to the nodes that run its ranks (--sync).
//
// The rank's node opens a connection to the submitter's. There the daemon starts
// `fulmend pack` as the person who submitted, here `fulmend unpack` as the account
// that the rank runs as: only they touch a path, and the daemons carry bytes
// between the two. What the two say is in package wire, what is left out of a
// copy in package pack, how a copy is put in place in package unpack.
//
// A copy lies in the account's home folder, in
// .fulmen/sync/NODE/HASH/NAME, where NODE is the submitter's node, HASH stands
// for the path there and NAME is its last element. So it overwrites nothing of
// the account's own; a second job from the same folder finds it and is sent the
// changes alone.
//
// It owns no facts and publishes nothing.
package files
