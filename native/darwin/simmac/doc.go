// Package simmac makes of a Mac's facts what its kernel and configd would hold:
// the tree of the I/O Registry, the keys of the dynamic store, the stored
// configuration. It is the way from a simulated scenario to the simulated
// frameworks below native/darwin, and the opposite of what native/darwin does.
//
// It is no part of any program. With the tag darwinsim, [Mac] keeps a simulated
// machine in step with a Mac of package sim, so that a scenario is played through
// the C files of native/darwin.
package simmac
