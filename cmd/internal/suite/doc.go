// Command suite is what `make test` runs: it builds the programs, runs every test
// of the repository once, says after each package how far it is, and ends with the
// slowest packages and with how long all of it takes on two cores that have
// nothing else to do. More than the limit is a failure: whoever adds tests makes
// room for them.
// With arguments it runs a part and builds nothing: race, darwinsim or plain. With
// `fuzz TIME` it runs every fuzz target for that long, which is no part of it.
//
// On two cores two lines of steps run beside each other, because the end-to-end
// tests wait much and compute little: the tests under the race detector, after
// them those of the C for macOS; and all others.
package main
