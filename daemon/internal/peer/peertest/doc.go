// Package peertest has what tests of the daemon's parts share. A Desk joins the
// parts of several nodes in one test without a network: calls and connections
// between them can be cut, and take no time, also in a testing/synctest bubble.
// Gates are real ones, over a book of members and the jobs that a test states. A
// Disk is what a ledger keeps its documents on.
package peertest
