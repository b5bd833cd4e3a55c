// Package methods binds the methods of the API to the parts that answer them. It decides
// nothing: it finds what a person means by a name, says in the log who asked for a
// change, and sends subscribers what they follow.
package methods
