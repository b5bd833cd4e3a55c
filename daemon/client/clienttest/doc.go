// Package clienttest is a daemon for tests of clients: it serves the API's
// WebSocket on a Unix socket, answers methods as a test says, and keeps
// documents that can be watched. It writes down what it was asked.
package clienttest
