// Command apischema writes, from package daemon/api, what programs read of the
// API: the JSON Schema that the daemon serves, the TypeScript types of the
// dashboard, the tables of docs/api.md, and docs/reference.md. Reflection gives types
// and fields, the source the comments and the constants in the order in which they
// are written. Tests fail when a committed file is not what it would write.
//
// usage: apischema [-src FOLDER] -schema FILE -types FILE -page FILE -reference FILE
package main
