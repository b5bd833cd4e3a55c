// Package redact takes out of a text what names a person, a machine or a place:
// addresses of hardware, serial numbers, names of networks, of accounts and of
// hosts. What is the same stays the same: each value is replaced by a numbered
// word, so that a report can still be followed.
package redact
