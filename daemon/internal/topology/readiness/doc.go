// Package readiness holds the rules by which a Thunderbolt cable is ready for
// RDMA, or not: every check of api.RDMACheckKey for the cable and its ends, each
// with what to do, the verdict with its sentence for a person, the user actions that
// somebody must make to a Mac whose switch is off, and what is worth a health
// condition. It takes what the documents of both ends say as plain values. It does
// no I/O and takes no clock, and the same values give the same texts on every node.
package readiness
