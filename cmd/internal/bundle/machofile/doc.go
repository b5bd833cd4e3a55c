// Package machofile reads programs and libraries of macOS on arm64, takes run
// paths out of them, and checks the signature that is there: the same on every
// system, so that a bundle can be looked at without a Mac.
//
// The layouts and numbers are Apple's, from <mach-o/loader.h> and <kern/cs_blobs.h>.
// A signature is held against what was signed; by whom it was signed is not
// looked at, which takes a Mac and its certificates.
package machofile
