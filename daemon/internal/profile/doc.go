// Package profile owns this node's gpu-profile document: what its GPU was
// measured to give, and why the last measurement failed if it did.
//
// [Profiler] measures on request, in a worker process under supervision, and
// never twice at once: who asks while a measurement runs joins it. Its methods
// are the handlers of the API's measure.* methods as far as they are about
// GPUs. It reads the circumstances of a measurement, publishes the document,
// raises and clears the conditions that the worker's end tells of, and lets
// any number of watchers follow; whatever pace they have, each sees exactly
// one end.
package profile
