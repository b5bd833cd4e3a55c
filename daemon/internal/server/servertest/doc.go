// Package servertest runs a server on real sockets for tests, over documents
// that the test puts. Its parts are small and real: documents are watched
// without a gap, tokens are kept in memory.
package servertest
