// Package scenario owns the file format of simulated clusters: Macs, cables,
// hubs and networks, what was measured on their like, and a time line of
// faults. It reads a file into plain values and refuses, with its line, what no
// desk could hold: a receptacle used twice, a cable to a node that is not there.
// What the values then do is the business of the package above, sim.
package scenario
