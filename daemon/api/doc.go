// Package api owns everything that two parts of Fulmen, or Fulmen and a
// script, must agree on: ids, documents and their kinds, errors and their
// reasons, the phases of jobs, methods and their parameters, and the fixed
// names and numbers of the product. It is the one source from which the
// reference, the JSON Schema and the TypeScript types are derived.
//
// It holds types and pure functions only: no I/O, no clock, no state. It
// imports the standard library alone, so that every other package may import it.
//
// Two readings of text are kept apart throughout. ParseX reads what a person
// typed and is forgiving; UnmarshalText reads what a program sent and accepts
// the canonical form only, so that one thing has one spelling on the wire.
//
// Names are for ever: later versions add, they never rename or reuse.
package api

//go:generate go test ./tables -update
//go:generate go run fulmen/cmd/internal/apischema -schema schema.json -types ../../assets/dashboard/src/api/types.ts -page ../../docs/api.md -reference ../../docs/reference.md
