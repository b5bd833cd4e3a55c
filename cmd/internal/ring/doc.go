// Package ring describes groups of workers on this machine's loopback, for
// make run and for tests.
package ring
