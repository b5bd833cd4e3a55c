// Package hostile is a program with a member's key that keeps to nothing, for tests
// over real daemons: it speaks the protocol of members by itself, so that it can send
// what no daemon sends. Only TLS, framing and what signatures cover are the project's
// own, since without those nobody would listen.
package hostile
