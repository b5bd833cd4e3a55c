// Package typecheck type-checks Go code for a platform on any other, without
// that platform's C compiler: macOS on Linux, and Linux on a Mac.
//
// The go command is asked for metadata only, so it never runs cgo; everything is
// then checked from source, each package after what it imports. Every use of C is
// taken as correct (go/types calls this a fake import), so modules that bind
// Apple's frameworks are no hindrance: a wrong method, arity or type of theirs is
// found, a wrong name in C is not. That takes a C compiler for the platform, which
// package darwincheck has.
//
// One fault that the compiler accepts is found too: a Go function that darwinkit
// panics over when it makes a method or a block of it.
package typecheck
