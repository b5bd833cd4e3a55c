// Package tomltext knows where things stand in the text of a TOML file: every key,
// every value, every table header, as ranges of bytes and by lines. It is what lets
// an error name a line and column, and a value be replaced without touching the rest.
//
// It is no parser: it takes text that a parser has accepted, and does not judge it.
package tomltext
