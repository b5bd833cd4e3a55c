// Package text puts values into words for people: bytes, rates, durations, and
// it makes names that others chose harmless to show. Every client uses it, so
// that the same number reads the same everywhere.
package text
