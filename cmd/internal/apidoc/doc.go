// Command apidoc writes docs/reference.md from package daemon/api: the tables
// give what there is, reflection gives fields and types, and the source gives
// the comments. It owns the reference and nothing else; a test fails when the
// committed file is not what it would write.
//
// usage: apidoc [-src FOLDER] -out FILE
package main
