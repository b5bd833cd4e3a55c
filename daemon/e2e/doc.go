// Package e2e tests the daemon as a whole: real folders, sockets, databases and
// workers, over its public API only.
package e2e
