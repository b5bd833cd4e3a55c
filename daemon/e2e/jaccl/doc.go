// Package jaccl speaks JACCL's side channel as MLX 0.32 does, byte for byte and
// with its faults, and does nothing else: it opens no RDMA device. MLX's packages
// for Linux have no JACCL, so tests of what carries side channels run this in its
// place.
//
// Rank 0 listens, takes as many connections as there are other ranks, whoever
// they are of, and closes its listener. Then it reads a number from each, and all
// gather several times: each rank sends as many bytes as every other, and gets
// those of all. It knows no deadlines but that of connecting, and never looks at
// the connections again once it has joined.
package jaccl
