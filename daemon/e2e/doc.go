// Package e2e tests the daemon as a whole: real folders, sockets, databases and
// workers, over its public API, and over the protocol of members where one is hostile.
package e2e
