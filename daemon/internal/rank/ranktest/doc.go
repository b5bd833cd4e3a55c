// Package ranktest is the test kit of what runs ranks: a test binary that is also
// `fulmen-shim shim` and `fulmen-shim look`, real shims, and an account that need not be in any
// list.
package ranktest
