// Package bundletest makes small programs, libraries and bundles for tests: with
// the load commands of real ones, and nothing that could run.
package bundletest
