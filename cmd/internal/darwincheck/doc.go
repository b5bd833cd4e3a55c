// Command darwincheck is the C and C++ compiler that the checks of the code for
// macOS name to the go command on Linux: zig, told of Apple's frameworks by this
// repository's own declarations and lists of names.
//
//	darwincheck REPOSITORY cc|c++ ARGUMENT...
//
// Its tests hold the code for macOS to account on Linux, as far as that goes
// without Apple's headers and libraries. What zig knows of Apple's frameworks is
// written in this repository, from public material: the declarations in
// native/darwin/apple, in headers.txt where Apple has them, and in names/ the names
// that our programs take from each library. So a check says that the code agrees
// with what we wrote down; whether that is right, a Mac says.
//
// The checks, all without a Mac:
//   - the headers in native/darwin/apple declare and include no more than Apple's
//     of the same names do, as headers.txt has it;
//   - every C file that a Mac would compile compiles for it, without a warning;
//   - go vet for macOS is content, with each name and each argument in C looked at;
//   - fulmend, fulmen and fulmen-rank link, with MLX's own library for macOS, and
//     their load commands are well;
//   - the app, put together from them, is whole: its files, property lists, what
//     its programs load, its signatures (package fulmen/cmd/internal/bundle/inspect);
//   - names/ lists what the programs use, no more and no less (-update writes it);
//   - the workflows in .github are well-formed.
//
// All but the first need what `cmd/internal/deps/deps.sh darwin` fetches, and are
// skipped without it, and with -short. Types in Go are checked without any of this, by
// package rules.
package main
