// Package redact makes a text fit to be shown to strangers: what [api.Harmless] does
// not list is replaced. The same value becomes the same word, such as path-3, so that a
// report can still be followed.
package redact
