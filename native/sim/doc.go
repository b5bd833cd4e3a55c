// Package sim is simulated Macs behind the interface of package native: a small
// real implementation of a cluster full of machines, for tests, for trying Fulmen
// without the hardware, and for showing it.
//
// A [World] holds the state of all Macs, cables, hubs and networks of one
// scenario and owns it alone. Every change is one [World.Apply] of an op of
// package scenario; the time line of a scenario, a live change, a conformance
// script and a network action of a daemon all end there or beside it. Facts are
// computed from the state when a snapshot asks for them, in the form in which a
// Mac tells them, and after each change exactly those Macs hear a hint whose
// facts of an area have become different.
//
// Connections between Macs are real ones on this machine's loopback interface,
// under simulated addresses; those whose path goes stall, and break if it stays
// away.
//
// What a scenario does not say is absent with the reason not_in_scenario. Every
// snapshot says that it is simulated.
package sim
