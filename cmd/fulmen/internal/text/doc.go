// Package text puts values into words for a terminal: bytes, rates, durations
// and tables, and it makes names that others chose harmless to print.
package text
