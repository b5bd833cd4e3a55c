// Package server owns the local API: JSON-RPC 2.0 over a WebSocket, on the
// loopback address and on a Unix socket, and the few HTTP paths beside it.
//
// It decides who calls (the kernel's word on the Unix socket, a token
// elsewhere), whether the caller's class is enough for a method, whether
// parameters are what the table of methods says, and what a client that does
// not read is owed. It knows nothing of what the methods do: the daemon hands
// in [Handlers], and [Facts] for state.get and state.watch.
//
//	listener on TCP ── guard ──┐
//	                           ├─ conn ── Handlers
//	listener on Unix ─ guard ──┘        └─ outbox ── writer
//
// Replies are queued like all else; one goroutine a connection writes. Whoever publishes
// something never waits for a client.
package server
