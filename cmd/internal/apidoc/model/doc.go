// Package model reads package daemon/api for the tools that write something
// from it: reflection gives types and fields, the source gives the comments and
// the constants in the order in which they are written. It owns what all of
// those tools must agree on: which types there are, which of them are one word
// on the wire, and what the unit of a number is. It writes nothing.
package model
