// Package shimtest runs real shims in the tests of those who deal with them.
package shimtest
