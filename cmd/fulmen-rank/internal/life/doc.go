// Package life ends the worker when it must end: on SIGTERM, SIGINT or
// SIGHUP, when the input that it inherited ends, and at its own deadline.
//
// MLX cannot be interrupted: a collective whose peer is gone spins for ever,
// and a wait for Metal has no limit. So ending has two steps: the command is
// asked to stop (its context ends), and where it has not within [Grace], the
// process ends under it.
package life
