// Package preparetest is the test kit of prepare: a test binary that is also
// `fulmend look`, and an account that need not be in any list.
package preparetest
