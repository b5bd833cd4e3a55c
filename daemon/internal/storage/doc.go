// Package storage gives each part its records in the node's one database, in the form
// that the part declares, and writes late what comes again ([Behind]). It knows the
// forms of all parts, and what none of them means.
package storage
