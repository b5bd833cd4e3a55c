// Package memnet is a network in memory: hosts with interfaces on several LANs
// that can be slow, lossy, cut and healed, behind [native.Sockets]. Connections
// behave as TCP does where it matters for a cluster: data is delivered in order
// and late, a cut holds it back and is noticed by nobody at first, and after the
// kernel's limit the connection breaks at both ends.
//
// It reads the time by package time and makes no system call, so that in a
// testing/synctest bubble minutes of a cluster pass in milliseconds.
//
// A Network owns its hosts and LANs and all connections between them. Tests change it,
// hosts read it, and what has become of a path is known by its connections alone.
package memnet
