// Package rules checks the house rules of this repository: comments, import
// directions, file length, formatting, pinned tools, fresh generated files, and
// a vocabulary that speaks of the product alone. The rules run as tests, so a
// change that breaks one fails `make test` with the file, the line, what is
// wrong and what to do.
//
// What may change with the design is data: the tables in layers_test.go,
// limits_test.go, vocabulary_test.go and fuzz_test.go. Everything that reads source works on an fs.FS, so
// that each check is itself tested against small trees that break it.
package rules
