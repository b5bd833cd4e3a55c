// Package peertest joins the parts of several nodes in one test without a network:
// calls and connections between them can be cut, and take no time. It works inside
// a testing/synctest bubble.
package peertest
