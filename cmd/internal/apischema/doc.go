// Command apischema writes, from package daemon/api, what programs read of the
// API: the JSON Schema that the daemon serves, the TypeScript types of the
// dashboard, and the tables of docs/api.md. Tests fail when a committed file is
// not what it would write.
//
// usage: apischema [-src FOLDER] -schema FILE -types FILE -page FILE
package main
