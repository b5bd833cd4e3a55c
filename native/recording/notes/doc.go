// Package notes owns the remarks that the readers of recordings leave for people:
// what was odd, and how it was read.
package notes
