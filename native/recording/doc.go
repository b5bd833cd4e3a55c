// Package recording says what a file that somebody recorded on a Mac, or wrote
// for the simulation, holds: [Describe] finds out what kind it is and reads it
// with that kind's own parser. The parsers are those of the packages beside it.
package recording
